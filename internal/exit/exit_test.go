package exit

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

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
		{"unknown command", []string{"run"}, nil, Usage, "unknown command \"run\" for \"tool\"\nhint: see 'tool --help'"},
		{"no command", nil, nil, Done, ""},
		{"unknown command, near another", []string{"g0"}, nil, Usage, "did you mean go?"},
		{"unknown command of a group", []string{"set", "foo"}, nil, Usage, "unknown command \"foo\" for \"tool set\""},
		{"a group", []string{"set"}, nil, Done, ""},
		{"unknown flag, near another", []string{"go", "--modell", "x"}, nil, Usage, "unknown flag: --modell; did you mean --model?"},
		{"unknown flag, near one of all commands", []string{"go", "--catalogue", "x"}, nil, Usage, "did you mean --catalog?"},
		{"own usage error", []string{"go"}, UsageError(errors.New("needs FILE")), Usage, "needs FILE"},
		{"cancelled", []string{"go"}, context.Canceled, Refused, "interrupted"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			root := &cobra.Command{Use: "tool"}
			root.PersistentFlags().String("catalog", "", "")
			set, one := &cobra.Command{Use: "set"}, &cobra.Command{Use: "go", RunE: func(*cobra.Command, []string) error { return c.err }}
			set.AddCommand(&cobra.Command{Use: "one", RunE: one.RunE})
			one.Flags().String("model", "", "")
			root.AddCommand(one, set)
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

// Both signals that ask a program to end let the command clean up.
func TestSignalsCancelTheCommand(t *testing.T) {
	defer func(args []string) { os.Args = args }(os.Args)
	os.Args = []string{"tool"}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		root := &cobra.Command{Use: "tool", RunE: func(c *cobra.Command, _ []string) error {
			if err := self.Signal(s); err != nil {
				t.Error(err)
			}
			select {
			case <-c.Context().Done():
			case <-time.After(10 * time.Second):
				t.Errorf("%v: the command was not told", s)
			}
			return c.Context().Err()
		}}
		if got := Main(root); got != Refused {
			t.Errorf("%v: got %d, want %d", s, got, Refused)
		}
	}
}

func TestPanicIsADefect(t *testing.T) {
	root := &cobra.Command{Use: "tool", RunE: func(*cobra.Command, []string) error { panic("boom") }}
	var errs bytes.Buffer
	if got := Run(t.Context(), root, nil, &errs, &errs); got != Defect {
		t.Errorf("got %d, want %d", got, Defect)
	}
}
