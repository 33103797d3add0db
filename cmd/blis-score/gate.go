package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/gate"
	"github.com/inference-sim/accuracy-dashboard/scorer/report"
	"github.com/spf13/cobra"
)

// seedJob is a command that holds the role seed. It runs nothing: predictions are
// files, read as untrusted input.
type seedJob struct {
	role                             ledger.Role
	seedEnv, ledger, base, candidate string
	registration, run, evaluations   string
	baseCommit, candidateCommit      string
	pipeline
	json bool
}

func (o *seedJob) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.seedEnv, "seed-env", "", "environment variable that holds the role seed, 64 hex digits")
	f.StringVar(&o.ledger, "ledger", "", "directory made by ledger ingest, with the units of every role")
	f.StringVar(&o.candidate, "candidate", "", "the candidate's predictions")
	f.StringVar(&o.evaluations, "evaluations", "evaluations.jsonl", "file of every evaluation so far; this one is appended, whatever it says")
	o.summaryFlag(f)
	f.BoolVar(&o.json, "json", false, "print the evaluation as JSON")
	required := []string{"seed-env", "candidate"}
	if o.role != ledger.Validate {
		f.StringVar(&o.base, "base", "", "the base's predictions")
		o.junitFlag(f, "lanes")
		required = append(required, "base")
	}
	for _, name := range required {
		if err := c.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
}

func gateCmd() *cobra.Command {
	o := &seedJob{role: ledger.Held}
	c := &cobra.Command{
		Use:   "gate --seed-env NAME --base FILE --candidate FILE --preregistration FILE --base-commit ID --candidate-commit ID",
		Short: "judge a candidate against its base on held units: aggregates alone, for a pre-registered change",
		Long: "Draws roles with the seed, compares two prediction files on the held units, and gives out aggregates over at least 10 units.\n" +
			"Each evaluation is appended to --evaluations before it is shown, and every one beyond the first of a change is counted and\n" +
			"said. The commits are the two that are compared, as the repository has them. Passes when no lane is worse and the registered target is better. Exits with 3 when it does not.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.compare(c) },
	}
	o.flags(c)
	c.Flags().StringVar(&o.registration, "preregistration", "", "the change's pre-registration file")
	c.Flags().StringVar(&o.baseCommit, "base-commit", "", "the commit where the change left the main branch, 40 hex digits")
	c.Flags().StringVar(&o.candidateCommit, "candidate-commit", "", "the change's head, 40 hex digits; its tree holds the pre-registration")
	c.MarkFlagsRequiredTogether("preregistration", "base-commit", "candidate-commit")
	c.Flags().StringVar(&o.run, "run", "", "without a pre-registration: nightly or release, counted as such")
	c.MarkFlagsOneRequired("preregistration", "run")
	c.MarkFlagsMutuallyExclusive("preregistration", "run")
	return c
}

func selectCmd() *cobra.Command {
	o := &seedJob{role: ledger.Select, run: "select"}
	c := &cobra.Command{
		Use:   "select --seed-env NAME --base FILE --candidate FILE",
		Short: "compare a candidate with its base on select units, to choose between candidates",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return o.compare(c) },
	}
	o.flags(c)
	return c
}

func errorCmd() *cobra.Command {
	o := &seedJob{role: ledger.Validate, run: "error"}
	c := &cobra.Command{
		Use:   "error --seed-env NAME --candidate FILE",
		Short: "measure a build's typical error on validate units, by lane",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return o.measure(c) },
	}
	o.flags(c)
	return c
}

// checkOutput refuses files that could not be written once units were read.
func (o *seedJob) checkOutput() error {
	if err := writable("--evaluations", o.evaluations); err != nil {
		return err
	}
	return o.pipeline.check()
}

// open reads what both kinds of job need.
func (o *seedJob) open() (l *ledger.Ledger, seed []byte, p *gate.Predictions, err error) {
	if err := o.checkOutput(); err != nil {
		return nil, nil, nil, err
	}
	text, ok := os.LookupEnv(o.seedEnv)
	if !ok {
		return nil, nil, nil, &diag.Refusal{Field: "--seed-env", Value: o.seedEnv, Problem: "is not set", Accept: "the name of a variable that holds the seed", Rule: "D7"}
	}
	if seed, err = ledger.ReadSeed(text); err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w", o.seedEnv, err)
	}
	if l, err = openLedger(o.ledger); err != nil {
		return nil, nil, nil, err
	}
	p, err = readPredictions(o.candidate)
	return l, seed, p, err
}

func (o *seedJob) compare(c *cobra.Command) error {
	l, seed, cand, err := o.open()
	if err != nil {
		return err
	}
	base, err := readPredictions(o.base)
	if err != nil {
		return err
	}
	e := &gate.Evaluation{Change: o.run, Role: o.role}
	var target *gate.Target
	if o.registration != "" {
		r, err := readRegistration(o.registration)
		if err != nil {
			return err
		}
		if err := gate.Trees(base, cand, o.baseCommit, o.candidateCommit); err != nil {
			return err
		}
		e.Change, e.Registration, target = r.Change, r.SHA256, r.Promise()
	} else if o.role == ledger.Held && o.run != "nightly" && o.run != "release" {
		return exit.UsageError(&diag.Refusal{Field: "--run", Value: o.run, Problem: "is no run that reads held units", Accept: "nightly or release", Rule: "D7"})
	}
	if e.Report, err = gate.Compare(l, seed, o.role, base, cand, target); err != nil {
		return err
	}
	if e.Base, err = canon.Hash(base); err != nil {
		return err
	}
	e.BaseCommit = base.Build.Commit
	if err := o.record(e, cand); err != nil {
		return err
	}
	if err := o.show(c.OutOrStdout(), e); err != nil {
		return err
	}
	if o.role == ledger.Held && !e.Report.Passed {
		return &exit.CheckFailed{What: e.Report.Why}
	}
	return nil
}

func (o *seedJob) measure(c *cobra.Command) error {
	l, seed, p, err := o.open()
	if err != nil {
		return err
	}
	e := &gate.Evaluation{Change: o.run, Role: o.role}
	if e.Typical, err = gate.TypicalError(l, seed, o.role, p); err != nil {
		return err
	}
	if err := o.record(e, p); err != nil {
		return err
	}
	return o.show(c.OutOrStdout(), e)
}

// record appends e to the evaluations before anyone sees it, so that none is unseen.
func (o *seedJob) record(e *gate.Evaluation, cand *gate.Predictions) error {
	before, err := os.ReadFile(o.evaluations)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &diag.Refusal{File: o.evaluations, Problem: "cannot be read: " + err.Error(), Accept: "the file of every evaluation so far"}
	}
	log, err := gate.ReadLog(o.evaluations, before)
	if err != nil {
		return err
	}
	if e.Candidate, err = canon.Hash(cand); err != nil {
		return err
	}
	e.CandidateCommit = cand.Build.Commit
	line, err := log.Append(e)
	if err != nil {
		return err
	}
	return write(o.evaluations, append(before, line...))
}

func (o *seedJob) show(w io.Writer, e *gate.Evaluation) error {
	if err := o.deliver(func() ([]byte, error) { return report.JUnitGate(e.Report) }, func() string {
		if e.Report == nil {
			return ""
		}
		return report.MarkdownGate(e)
	}); err != nil {
		return err
	}
	if o.json {
		data, err := canon.Indent(e)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	}
	printEvaluation(w, e)
	return nil
}

func printEvaluation(out io.Writer, e *gate.Evaluation) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if r := e.Report; r != nil {
		for _, l := range slices.Concat(r.Lanes, r.NotBlind) {
			fmt.Fprintf(w, "%s\t%s\t%d units\t%.2f%%\t%.2f%%\t%+.2f%% [%+.2f, %+.2f]\t%s\n", l.Name, l.Metric, l.Units, 100*l.Base, 100*l.Candidate, 100*l.Difference, 100*l.Interval[0], 100*l.Interval[1], l.Outcome)
		}
	}
	if r := e.Typical; r != nil {
		for _, l := range slices.Concat(r.Lanes, r.NotBlind) {
			fmt.Fprintf(w, "%s\t%s\t%d units\t%.2f%% [%.2f, %.2f]\n", l.Name, l.Metric, l.Units, 100*l.Error, 100*l.Interval[0], 100*l.Interval[1])
		}
	}
	w.Flush()
	if r := e.Report; r != nil {
		verdict := map[bool]string{true: "passed", false: "not passed"}[r.Passed]
		fmt.Fprintf(out, "%s: %s: %s\n", cmp.Or(e.Change, string(e.Role)), verdict, r.Why)
	}
	fmt.Fprintf(out, "evaluation %d of %s on %s units\n", e.Number, e.Change, e.Role)
	if e.Number > 1 {
		fmt.Fprintf(out, "%d evaluations came before: the change may have been tuned against these units\n", e.Number-1)
	}
}

func readPredictions(file string) (*gate.Predictions, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, &diag.Refusal{File: file, Problem: "cannot be read: " + err.Error(), Accept: "a file that predict made"}
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, &diag.Refusal{File: file, Problem: "is a directory", Accept: "a file that predict made"}
	}
	return gate.ReadPredictions(file, f)
}

func readRegistration(file string) (*gate.Registration, error) {
	info, err := os.Stat(file)
	if err == nil && info.Size() > gate.MaxRegistration {
		err = fmt.Errorf("is larger than %d bytes", gate.MaxRegistration)
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, &diag.Refusal{File: file, Problem: "cannot be read: " + err.Error(), Accept: "a pre-registration file"}
	}
	return gate.ReadRegistration(file, data)
}
