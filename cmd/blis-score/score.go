package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/inference-sim/accuracy-dashboard/content"
	"github.com/inference-sim/accuracy-dashboard/harness"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/invariants"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/scorer/snapshot"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/inference-sim/accuracy-dashboard/site"
	"github.com/inference-sim/accuracy-dashboard/site/page"
	"github.com/inference-sim/accuracy-dashboard/site/wasm"
)

// job is a scoring run: everything it reads is open, and nothing has run.
type job struct {
	options
	ledger  *ledger.Ledger
	units   []*ledger.Unit
	build   record.Build
	world   *harness.World
	stack   snapshot.Stack
	archive *snapshot.Store // releases published before
}

// begin opens and checks what a run needs, before the long part.
func begin(o options) (*job, error) {
	j := &job{options: o}
	var err error
	if j.ledger, err = openLedger(o.ledger); err != nil {
		return nil, err
	}
	if j.units, err = choose(j.ledger, o); err != nil {
		return nil, err
	}
	w, err := world.Open(o.Paths)
	if err != nil {
		return nil, err
	}
	if j.build, err = describe(w, j.ledger, o.release); err != nil {
		return nil, err
	}
	if j.world, err = theWorld(w, j.build); err != nil {
		return nil, err
	}
	j.world.Watch = func(s *spec.Scenario) (*spec.Result, *record.Timeline, error) { return watch(w, s) }
	j.world.Typical = func(s *spec.Scenario, r *spec.Result) ([]record.TypicalStep, error) { return typicalSteps(w, s, r) }
	return j, j.openArchive()
}

// records compares, grades and sums up: what the site is made of.
func (j *job) records(trials []record.Trial) (page.Input, error) {
	var in page.Input
	var err error
	if in.Points, err = scorer.Points(trials); err != nil {
		return in, err
	}
	records := j.ledger.Report.Records
	in.Summary = scorer.Summarize(in.Points, j.build, scorer.Cover(in.Points, records.Read, records.LeftOut))
	in.Summary.Experiment = experimental(j.options)
	backlog := scorer.Rank(in.Points)
	in.Backlog = &backlog
	return in, j.keep(&in)
}

func openLedger(path string) (*ledger.Ledger, error) {
	if path == "" {
		return ledger.Embedded()
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, &diag.Refusal{Field: "--ledger", Value: path, Problem: "cannot be opened: " + err.Error(), Accept: "a directory made by ledger ingest"}
	}
	l, err := ledger.Open(root.FS())
	return l, diag.Below(path, err)
}

// rolesOf are the ledger's roles that a value of --role stands for.
func rolesOf(name string) ([]ledger.Role, error) {
	roles := map[string][]ledger.Role{"anchor": {ledger.Anchor}, "fit": {ledger.Fit}, "all": {ledger.Anchor, ledger.Fit, ledger.Unlisted}}
	want, ok := roles[name]
	if !ok {
		return nil, &diag.Refusal{Field: "--role", Value: name, Problem: "is not a role", Accept: diag.OneOf(name, []string{"anchor", "fit", "all"})}
	}
	return want, nil
}

// choose returns the units of the role, or the named ones of it, in order of id.
func choose(l *ledger.Ledger, o options) ([]*ledger.Unit, error) {
	want, err := rolesOf(o.role)
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for _, prefix := range o.units {
		u, err := l.Find(prefix)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(want, l.Role(u)) {
			return nil, &diag.Refusal{Field: "--units", Value: prefix, Problem: fmt.Sprintf("has the role %s", l.Role(u)), Accept: "a unit of --role " + o.role, Rule: "COV-2"}
		}
		named[u.ID] = true
	}
	var units []*ledger.Unit
	for i := range l.Units {
		u := &l.Units[i]
		if slices.Contains(want, l.Role(u)) && (len(named) == 0 || named[u.ID]) && ledger.InLane(u.Lane(), o.lane) {
			units = append(units, u)
		}
	}
	if len(units) == 0 {
		return nil, &diag.Refusal{Field: "--lane", Value: o.lane, Problem: "no unit matches", Accept: "words of a lane's name, e.g. \"vllm h200\""}
	}
	return units, nil
}

// experimental says why figures may not be published as the project's accuracy, or "".
func experimental(o options) string {
	switch {
	case o.ledger != "":
		return "The units come from a ledger directory given by path, not from the embedded one."
	case !o.embedded():
		return "The catalog or the coefficients come from a directory given by path, not from the embedded ones."
	case o.role != "anchor":
		return "Units of role " + o.role + " are scored; some may have been fitted on."
	case len(o.units) > 0 || o.lane != "":
		return "Only some of the anchor units are scored."
	case o.release == "":
		return "This build is not a release."
	}
	return ""
}

// theWorld is the build as the harness runs it.
func theWorld(w *world.World, build record.Build) (*harness.World, error) {
	program, err := programHash()
	return &harness.World{Catalog: w.Catalog, Engines: w.Kinds, Simulate: w.Run,
		Build: map[string]string{"program": program, "catalog": build.Catalog, "registry": build.Registry}}, err
}

// simulate tries units and keeps each trial until the site that needs it is written.
func (j *job) simulate(ctx context.Context, units []*ledger.Unit, progress io.Writer) ([]record.Trial, error) {
	store := &harness.Store{Dir: storeOf(j.options)}
	if j.resume {
		if err := onlyOf(store.Dir, units); err != nil {
			return nil, err
		}
	} else if err := os.RemoveAll(store.Dir); err != nil {
		return nil, err
	}
	return j.world.Run(ctx, units, harness.Options{Jobs: j.jobs, Store: store, Done: ticker(progress)})
}

// onlyOf refuses kept trials of units that a run does not try: it would remove them when it is done.
func onlyOf(dir string, units []*ledger.Unit) error {
	kept, err := keptIn(dir)
	if err != nil {
		return err
	}
	tried := map[string]bool{}
	for _, u := range units {
		tried[u.ID] = true
	}
	others := 0
	for _, id := range kept {
		if !tried[id] {
			others++
		}
	}
	if others == 0 {
		return nil
	}
	return &diag.Refusal{Field: "--resume", Value: dir, Problem: fmt.Sprintf("keeps %d trials of units that are not selected, and would drop them", others),
		Accept: "the --role, --lane, --units and --shard of the run that was interrupted, or a selection that holds its units; another --out; or no --resume, which drops every kept trial"}
}

// keptIn lists the units of the trials in dir, which need not exist. What a killed process was
// writing is none.
func keptIn(dir string) (ids []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".json"); ok {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// ticker says every two seconds how far a run is.
func ticker(progress io.Writer) func(t *record.Trial, done, total int) {
	said := time.Now()
	return func(_ *record.Trial, done, total int) {
		if now := time.Now(); done == total || now.Sub(said) > 2*time.Second {
			said = now
			fmt.Fprintf(progress, "tried %d of %d units\n", done, total)
		}
	}
}

// storeOf is where finished trials wait until the site that needs them is written.
func storeOf(o options) string { return filepath.Clean(o.out) + ".trials" }

// settle ends a run: the trials of one that succeeded are removed, and it is said where those of
// one that failed are.
func (o *options) settle(progress io.Writer, err error) error {
	dir := storeOf(*o)
	if err == nil {
		return os.RemoveAll(dir)
	}
	if kept, _ := keptIn(dir); len(kept) > 0 {
		fmt.Fprintf(progress, "%d finished trials are kept in %s: --resume goes on from them\n", len(kept), dir)
		return err
	}
	return errors.Join(err, os.RemoveAll(dir))
}

// publish writes the site, with the simulator for browsers where it can be compiled.
func publish(ctx context.Context, in page.Input, o options, progress io.Writer) error {
	if o.recordsOnly {
		return site.Records(ctx, in, o.out)
	}
	reference, err := o.reference()
	if err != nil {
		return err
	}
	rules, err := invariants.Records()
	if err != nil {
		return err
	}
	ids := make([]string, len(rules))
	for i, r := range rules {
		ids[i] = r.ID
	}
	module, err := simulator(ctx, o.inputs)
	if no, ok := errors.AsType[wasm.Unavailable](err); ok {
		fmt.Fprintf(progress, "the site cannot run the simulator: %s\n", no.Why)
	} else if err != nil {
		return err
	}
	return site.Build(ctx, in, site.Options{Simulator: module, Out: o.out, Library: o.library, Key: o.key, Prose: content.FS, Reference: reference, Rules: ids})
}
