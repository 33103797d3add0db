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
		{"notes --to ../.. --evaluations none", exit.Refused, "--evaluations: none: cannot be read"},
		{"notes --to ../.. --evaluations release_test.go", exit.Refused, "release_test.go:1"},
		{"pack --out .", exit.Refused, "is not empty"},
		{"notes --to testdata", exit.Refused, "--to: testdata: is no source tree"},
		{"notes --from release_test.go --to ../..", exit.Refused, "is no source tree"},
		{"pack --out release_test.go", exit.Refused, "is no directory"},
		{"pack --out OUT --target= --target=", exit.Refused, "names no platform"},
		{"pack --out OUT --target a/b/c", exit.Refused, "is not a platform"},
		{"pack --out OUT --release latest", exit.Refused, "latest: is no version"},
		{"pack --out OUT", exit.Refused, "go.mod: cannot be read"},
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
