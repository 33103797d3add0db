// Package exit runs a command tree and turns its error into what a person reads
// and a script can test: one line on standard error, hint lines, an exit code.
//
// In: a cobra command and its arguments. Out: the code; the caller alone exits.
// Codes: 0 done, 1 refused input or interrupted, 2 usage, 3 a check failed, 70 a defect.
package exit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/spf13/cobra"
)

// Codes of a finished command.
const (
	Done    = 0
	Refused = 1 // and interrupted
	Usage   = 2
	Failed  = 3
	Defect  = 70
)

// CheckFailed is the error of a check that ran and said no: exit code 3.
type CheckFailed struct{ What string }

func (e *CheckFailed) Error() string { return e.What }

// usage marks an error of the command line itself.
type usage struct{ error }

func (u usage) Unwrap() error { return u.error }

// UsageError makes err exit with code 2.
func UsageError(err error) error { return usage{err} }

// Main runs root with an interrupt or SIGTERM that cancels its context: commands
// see ctx.Done and leave nothing half-written. A second signal kills.
func Main(root *cobra.Command) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return Run(ctx, root, os.Args[1:], os.Stdout, os.Stderr)
}

// Run executes root with args and returns the exit code.
func Run(ctx context.Context, root *cobra.Command, args []string, stdout, stderr io.Writer) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(stderr, "%s: defect: %v\n%s", root.Name(), p, debug.Stack())
			code = Defect
		}
	}()
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage{err} })
	started := false
	markRun(root, &started)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return Done
	}
	if !started { // cobra refused the command line before any command ran
		err = usage{err}
	}
	fmt.Fprintf(stderr, "%s: %v\n", root.Name(), err)
	for _, h := range hints(err, cmd) {
		fmt.Fprintf(stderr, "hint: %s\n", h)
	}
	return codeOf(err)
}

// markRun notes that a command's own code began, so that argument errors found by
// cobra before it can be told from errors of the work.
func markRun(c *cobra.Command, started *bool) {
	if run := c.RunE; run != nil {
		c.RunE = func(c *cobra.Command, args []string) error {
			*started = true
			return run(c, args)
		}
	}
	for _, sub := range c.Commands() {
		markRun(sub, started)
	}
}

func codeOf(err error) int {
	if _, ok := errors.AsType[usage](err); ok {
		return Usage
	}
	if _, ok := errors.AsType[*CheckFailed](err); ok {
		return Failed
	}
	return Refused
}

func hints(err error, cmd *cobra.Command) []string {
	if r, ok := errors.AsType[*diag.Refusal](err); ok {
		return r.Hints()
	}
	if errors.Is(err, context.Canceled) {
		return []string{"interrupted; nothing half-written was left"}
	}
	if _, ok := errors.AsType[usage](err); ok {
		return []string{fmt.Sprintf("see '%s --help'", strings.TrimSpace(cmd.CommandPath()))}
	}
	return nil
}
