package site

import (
	"context"
	"os"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/content"
	"github.com/inference-sim/accuracy-dashboard/site/sitetest"
)

func TestDump(t *testing.T) {
	out := os.Getenv("SITE_OUT")
	if out == "" {
		t.Skip()
	}
	if err := Build(context.Background(), sitetest.Release(1235), Options{Out: out, Library: "node_modules", Prose: content.FS}); err != nil {
		t.Fatal(err)
	}
}
