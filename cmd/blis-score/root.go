package main

import (
	"fmt"
	"runtime"

	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/scorer/report"
	"github.com/inference-sim/accuracy-dashboard/site"
	"github.com/spf13/cobra"
)

// options are the flags of the scoring command.
type options struct {
	out, release, key, library string
	ledger, role, lane         string
	units                      []string
	jobs                       int
	json, recordsOnly, resume  bool
	shard, snapshots, rules    string
	inputs
	pipeline
}

// root is the command tree, made anew for each run and for the generated reference.
func root() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "blis-score",
		Short: "score the simulator against measured runs, and build the signed site",
		Long: "Scores every anchor unit of the embedded ledger with the embedded simulator, grades each comparison, and leaves a signed\n" +
			"site. The site appears whole or not at all. Figures of anything but a release's anchor units are labelled experimental.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return run(c, o) },
	}
	o.outputFlags(c)
	f := c.Flags()
	f.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "units simulated at once; changes no byte of the outcome")
	f.StringSliceVar(&o.units, "units", nil, "score these units only: ids or beginnings of ids, separated by commas")
	f.StringVar(&o.lane, "lane", "", `score lanes whose name holds all these words, e.g. "vllm llama"`)
	f.StringVar(&o.role, "role", "anchor", "role of the units: anchor, fit or all")
	f.StringVar(&o.release, "release", "", "tag the figures are published under, e.g. v1.2.0: it must be what this program was built from, and unscored")
	f.StringVar(&o.shard, "shard", "", "score the i-th of n parts, e.g. 2/7, and leave it in --out for blis-score merge")
	f.BoolVar(&o.resume, "resume", false, "go on from where an interrupted run with the same inputs stopped")
	c.AddCommand(verifyCmd(), serveCmd(), mergeCmd(), unscoredCmd(), predictCmd(), gateCmd(), selectCmd(), errorCmd(), fingerprintCmd(), refactorCmd())
	return c
}

// outputFlags are those of every command that leaves a site.
func (o *options) outputFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.out, "out", "public", "directory to make; an earlier site there is replaced")
	f.StringVar(&o.ledger, "ledger", "", "directory made by ledger ingest, in place of the embedded ledger")
	o.inputFlags(f)
	f.StringVar(&o.key, "key", "", "PEM private key (P-256) that signs the site; without one the signature proves integrity only")
	f.StringVar(&o.library, "charts", "site/node_modules", "node_modules with the chart library; without it charts are static pictures")
	f.StringVar(&o.snapshots, "snapshots", "", "directory of published releases, kept in the new site; the site at --out has them unless this is set")
	f.StringVar(&o.rules, "rules", "", "what 'blis invariants check --run --out' wrote of this commit, for the page of rules")
	o.junitFlag(f, "points")
	o.summaryFlag(f)
	f.BoolVar(&o.json, "json", false, "print the summary as JSON in place of the closing table")
	f.BoolVar(&o.recordsOnly, "records-only", false, "stop after the data files and each point's point.json: no pages, no signature")
}

func run(c *cobra.Command, o options) error {
	if err := o.check(c.Flags()); err != nil {
		return err
	}
	if o.shard != "" {
		return part(c, o)
	}
	if err := site.Replaceable(o.out); err != nil {
		return err
	}
	j, err := begin(o)
	if err != nil {
		return err
	}
	trials, err := j.simulate(c.Context(), j.units, c.ErrOrStderr())
	if err == nil {
		err = j.finish(c, trials)
	}
	return o.settle(c.ErrOrStderr(), err)
}

// finish turns trials into the site and says what it shows.
func (j *job) finish(c *cobra.Command, trials []record.Trial) error {
	in, err := j.records(trials)
	if err != nil {
		return err
	}
	if err := publish(c.Context(), in, j.options, c.ErrOrStderr()); err != nil {
		return err
	}
	if err := j.deliver(func() ([]byte, error) { return report.JUnit(in.Points) }, func() string { return report.Markdown(in.Summary) }); err != nil {
		return err
	}
	if j.json {
		return printSummary(c.OutOrStdout(), in.Summary)
	}
	printTable(c.OutOrStdout(), in)
	fmt.Fprint(c.OutOrStdout(), closing(j.options))
	return nil
}
