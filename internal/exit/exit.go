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
	"github.com/spf13/pflag"
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
	root.SetFlagErrorFunc(flagError)
	groups(root)
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

// flagError names the flag that an unknown one is near to.
func flagError(c *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return usage{err}
	}
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	if near := diag.Nearest(unknown.GetSpecifiedName(), known); near != "" {
		err = fmt.Errorf("%w; did you mean --%s?", err, near)
	}
	return usage{err}
}

// groups makes a command that only holds others show its help, and refuse a word that
// names none of them.
func groups(c *cobra.Command) {
	if c.HasSubCommands() && !c.Runnable() {
		c.Args = named
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	for _, sub := range c.Commands() {
		groups(sub)
	}
}

// named refuses a word in the place of a command, with the command it is near to.
func named(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	err := fmt.Errorf("unknown command %q for %q", args[0], c.CommandPath())
	if near := diag.Nearest(args[0], names); near != "" {
		err = fmt.Errorf("%w; did you mean %s?", err, near)
	}
	return err
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
