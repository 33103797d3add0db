package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
)

func TestCommands(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"notes --to ../..", exit.Done, "First release"},
		{"notes --from ../.. --to ../..", exit.Done, "## Rules\n\nNo change."},
		{"pack --out .", exit.Refused, "is not empty"},
		{"pack --target linux --out OUT", exit.Refused, "is not a platform"},
		{"send", exit.Usage, "unknown command"},
	} {
		var out, errs bytes.Buffer
		args := strings.Fields(strings.ReplaceAll(c.args, "OUT", t.TempDir()))
		code := exit.Run(context.Background(), root(), args, &out, &errs)
		if all := out.String() + errs.String(); code != c.code || !strings.Contains(all, c.want) {
			t.Errorf("%s: got code %d, %.300q, want %d and %q", c.args, code, all, c.code, c.want)
		}
	}
}
