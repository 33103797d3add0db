package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/sim/search"
	"github.com/spf13/cobra"
)

// searchCmd finds the best of a grid of configurations.
func searchCmd() *cobra.Command {
	q := searchQuery{}
	c := &cobra.Command{
		Use:   "search SPEC.yaml",
		Short: "rank a grid of configurations by a goal, and say of each why it is not ranked",
		Long: "The specification names a base scenario, the axes that vary in it, one metric to rank by or two for their Pareto front, and constraints. " +
			"Every arm of the grid runs with the seeds 1, 2, ..., so that the same requests meet all. An arm is ranked only when each run was accepted and, in a steady state, settled, " +
			"and when the whole interval of each constraint's figure keeps its bound; any other says why not. " +
			"Differences are paired by seed and tested together by Holm's method; what they do not tell apart is a tie. The winner is estimated again on fresh seeds, " +
			"and the arms run again with prices at the ends of their intervals. " +
			"Exits with 3 when no arm could be ranked.",
		Example: "  blis search layouts.yaml\n  blis search layouts.yaml --summary public/data/summary.json --plot layouts.svg\n  blis search layouts.yaml --json > layouts.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return q.run(cmd, args[0])
		},
	}
	f := c.Flags()
	f.StringVar(&q.summary, "summary", "", "a site's data/summary.json, with its points.json beside it: what was measured of the lanes of the arms")
	f.StringVar(&q.plot, "plot", "", "write the ranking, or the front of two metrics, as SVG")
	f.IntVar(&q.jobs, "jobs", runtime.NumCPU(), "arms simulated at a time")
	f.IntVar(&q.moved, "sensitivity", 3, "how many of the coefficients that the winners depend on most are moved across their intervals")
	f.BoolVar(&q.watch, "watch", false, "show on standard error how many arms are done")
	f.BoolVar(&q.json, "json", false, "print the report as JSON")
	q.data.add(c)
	return c
}

type searchQuery struct {
	summary, plot string
	jobs, moved   int
	watch, json   bool
	data          dataFlags
}

func (q *searchQuery) run(cmd *cobra.Command, file string) error {
	if q.jobs < 1 {
		return &diag.Refusal{Field: "--jobs", Value: fmt.Sprint(q.jobs), Problem: "is out of range", Accept: "1 or more"}
	}
	if q.moved < 0 {
		return &diag.Refusal{Field: "--sensitivity", Value: fmt.Sprint(q.moved), Problem: "is out of range", Accept: "0 for none, or more"}
	}
	w, err := world.Open(q.data.Paths)
	if err != nil {
		return err
	}
	d, err := document(file)
	if err != nil {
		return err
	}
	study, err := openStudy(w, d)
	if err != nil {
		return err
	}
	evidence := &search.Evidence{Catalog: w.Catalog}
	read := []string{file, besides(file, study.Base.Path)}
	if cmd.Flags().Changed("summary") {
		points := filepath.Join(filepath.Dir(q.summary), "points.json")
		read = append(read, q.summary, points)
		if err := q.evidence(evidence, points); err != nil {
			return err
		}
	}
	var plot *output
	if cmd.Flags().Changed("plot") {
		o, err := inputs(read...).create("--plot", q.plot)
		if err != nil {
			return err
		}
		plot = &o
		defer o.discard() // nothing is left of it when it was kept
	}
	runner := &arms{world: w, files: os.DirFS(filepath.Dir(read[1])), jobs: q.jobs, progress: newProgress(cmd.ErrOrStderr(), q.watch, 0)}
	report, err := study.Run(func(jobs []search.Job) ([]*search.Trial, error) {
		trials, err := runner.run(cmd.Context(), jobs)
		runner.stage = " again, with fresh seeds"
		return trials, err
	}, evidence)
	if err == nil && q.moved > 0 && len(report.Order) > 0 {
		err = runner.sensitivity(cmd.Context(), study, report, q.moved)
	}
	runner.progress.clear()
	if err != nil {
		return err
	}
	info, _ := debug.ReadBuildInfo() // nil without
	sign(report, info, w)
	report.Inputs.ExactAcceptance = q.data.ExactAcceptance
	if plot != nil && len(report.Order) > 0 {
		if err := writeSearchPlot(plot, file, report); err != nil {
			return err
		}
	}
	return q.print(cmd, file, report)
}

func (q *searchQuery) print(cmd *cobra.Command, file string, r *search.Report) error {
	out := cmd.OutOrStdout()
	if q.json {
		b, err := r.JSON()
		if err != nil {
			return err
		}
		if _, err := out.Write(b); err != nil {
			return err
		}
	} else if err := drawSearch(out, file, r); err != nil {
		return err
	}
	if len(r.Order) == 0 {
		what := fmt.Sprintf("%s: none of %d arms could be ranked", file, len(r.Arms))
		if q.plot != "" {
			what += "; " + q.plot + " was not written"
		}
		return &exit.CheckFailed{What: what}
	}
	return nil
}

// besides is a path that a file names relative to itself.
func besides(file, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(file), path)
}

// openStudy lays out the grid of a specification, and reads its base scenario.
func openStudy(w *world.World, d search.Document) (*search.Study, error) {
	return search.Open(d, func(base string) (search.Document, error) {
		b, err := document(besides(d.File, base))
		if r, ok := errors.AsType[*diag.Refusal](err); ok {
			r.File, r.Field, r.Value = "", "base", base
		}
		return b, err
	}, func(kind string) *fields.List {
		k, err := w.Kind(kind)
		if err != nil {
			return nil
		}
		return k.Fields()
	})
}

func document(file string) (search.Document, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return search.Document{}, &diag.Refusal{File: file, Problem: "cannot be read: " + err.Error()}
	}
	return search.Document{File: file, Data: data}, nil
}

// evidence reads the summary and the points published beside it.
func (q *searchQuery) evidence(e *search.Evidence, points string) error {
	s, err := document(q.summary)
	if err != nil {
		return err
	}
	p, err := document(points)
	if err != nil {
		return err
	}
	return e.Read(s, p)
}

// sign says which build and data made the report, and why it is no release's. info is
// nil where the program has no build information.
func sign(r *search.Report, info *debug.BuildInfo, w *world.World) {
	r.Build = builtFrom(info)
	if r.Build.Release == "unreleased" {
		r.Experimental = append(r.Experimental, "This build is not a release.")
	}
	r.Inputs.Data = w.Sources
	for _, s := range w.Sources {
		if s.Origin != "embedded" || len(s.Overlays) > 0 {
			r.Experimental = append(r.Experimental, "The "+s.Kind+" is not the build's own.")
		}
		if a := r.Inputs.Accuracy; a != nil && s.SHA256 != map[string]string{"catalog": a.Build.Catalog, "registry": a.Build.Registry}[s.Kind] {
			r.Experimental = append(r.Experimental, "The summary is of a build with another "+s.Kind+".")
		}
	}
	if a := r.Inputs.Accuracy; a != nil && a.Experimental != "" {
		r.Experimental = append(r.Experimental, "The summary is experimental: "+a.Experimental)
	}
}

// arms simulates arms, some at a time. Each has a world of its own, so that what it is
// given depends on it alone.
type arms struct {
	world    *world.World
	files    fs.FS
	jobs     int
	progress *progress
	stage    string // what they are run for, after the first time
}

// in gives jobs to a until ctx ends.
func (a *arms) in(ctx context.Context) search.Simulate {
	return func(jobs []search.Job) ([]*search.Trial, error) { return a.run(ctx, jobs) }
}

func (a *arms) run(ctx context.Context, jobs []search.Job) ([]*search.Trial, error) {
	trials := make([]*search.Trial, len(jobs))
	done := 0
	err := each(ctx, a.jobs, len(jobs), func(ctx context.Context, i int) (err error) {
		trials[i], err = a.try(ctx, jobs[i])
		return err
	}, func() {
		done++
		a.progress.write(func() string { return fmt.Sprintf("%d/%d arms%s", done, len(jobs), a.stage) })
	})
	if stopped := canceled(ctx); stopped != nil {
		return nil, stopped
	}
	return trials, err
}

// try runs an arm's replications; a refusal is what became of it.
func (a *arms) try(ctx context.Context, j search.Job) (*search.Trial, error) {
	w := a.world.Sim()
	w.Files = a.files
	t := search.NewTrial(j)
	err := replications(ctx, "", j.Scenario, w, j.First, t.Add)
	if r, ok := errors.AsType[*diag.Refusal](err); ok {
		t.Refused, err = r, nil
	}
	return t, err
}
