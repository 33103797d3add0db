package site

import (
	"context"
	"os"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/site/sitetest"
)

func TestDump(t *testing.T) {
	out := os.Getenv("SITE_OUT")
	if out == "" {
		t.Skip()
	}
	if err := Build(context.Background(), sitetest.Release(browsed), options(t, out, "node_modules")); err != nil {
		t.Fatal(err)
	}
}
