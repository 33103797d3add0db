package exit

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/spf13/cobra"
)

func TestCodes(t *testing.T) {
	keep.Rule(t, "SIM-2")
	cases := []struct {
		name string
		args []string
		err  error
		code int
		want string // part of standard error
	}{
		{"done", []string{"go"}, nil, Done, ""},
		{"refused", []string{"go"}, &diag.Refusal{File: "f", Problem: "bad", Accept: "good"}, Refused, "tool: f: bad\nhint: accepted: good\n"},
		{"other error", []string{"go"}, errors.New("disk full"), Refused, "tool: disk full\n"},
		{"check", []string{"go"}, &CheckFailed{"2 differences"}, Failed, "tool: 2 differences\n"},
		{"unknown flag", []string{"go", "--x"}, nil, Usage, "hint: see 'tool go --help'"},
		{"unknown command", []string{"run"}, nil, Usage, "unknown command"},
		{"own usage error", []string{"go"}, UsageError(errors.New("needs FILE")), Usage, "needs FILE"},
		{"cancelled", []string{"go"}, context.Canceled, Refused, "interrupted"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			root := &cobra.Command{Use: "tool"}
			root.AddCommand(&cobra.Command{Use: "go", RunE: func(*cobra.Command, []string) error { return c.err }})
			var out, errs bytes.Buffer
			if got := Run(t.Context(), root, c.args, &out, &errs); got != c.code {
				t.Errorf("code: got %d, want %d (%s)", got, c.code, errs.String())
			}
			if !strings.Contains(errs.String(), c.want) {
				t.Errorf("stderr: got %q, want it to hold %q", errs.String(), c.want)
			}
		})
	}
}

func TestPanicIsADefect(t *testing.T) {
	root := &cobra.Command{Use: "tool", RunE: func(*cobra.Command, []string) error { panic("boom") }}
	var errs bytes.Buffer
	if got := Run(t.Context(), root, nil, &errs, &errs); got != Defect {
		t.Errorf("got %d, want %d", got, Defect)
	}
}
