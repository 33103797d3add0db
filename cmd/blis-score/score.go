package main

import (
	"context"
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
	"github.com/inference-sim/accuracy-dashboard/site"
	"github.com/inference-sim/accuracy-dashboard/site/page"
)

// score runs the chosen units and returns what the site is made of.
func score(ctx context.Context, o options, progress io.Writer) (page.Input, error) {
	var in page.Input
	if err := site.Replaceable(o.out); err != nil { // before the long part
		return in, err
	}
	l, err := openLedger(o.ledger)
	if err != nil {
		return in, err
	}
	units, err := choose(l, o)
	if err != nil {
		return in, err
	}
	w, err := world.Open(world.Paths{})
	if err != nil {
		return in, err
	}
	build, err := describe(w, l, o.release)
	if err != nil {
		return in, err
	}
	trials, err := simulate(ctx, w, build, units, o, progress)
	if err != nil {
		return in, err
	}
	if in.Points, err = scorer.Points(trials); err != nil {
		return in, err
	}
	records := l.Report.Records
	in.Summary = scorer.Summarize(in.Points, build, scorer.Cover(in.Points, records.Read, records.LeftOut))
	in.Summary.Experiment = experimental(o)
	backlog := scorer.Rank(in.Points)
	in.Backlog = &backlog
	return in, nil
}

func openLedger(path string) (*ledger.Ledger, error) {
	if path == "" {
		return ledger.Embedded()
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, &diag.Refusal{Field: "--ledger", Value: path, Problem: "cannot be opened: " + err.Error(), Accept: "a directory made by ledger ingest"}
	}
	return ledger.Open(root.FS())
}

// choose returns the units of the role, or the named ones of it, in order of id.
func choose(l *ledger.Ledger, o options) ([]*ledger.Unit, error) {
	roles := map[string][]ledger.Role{"anchor": {ledger.Anchor}, "fit": {ledger.Fit}, "all": {ledger.Anchor, ledger.Fit, ledger.Unlisted}}
	want, ok := roles[o.role]
	if !ok {
		return nil, &diag.Refusal{Field: "--role", Value: o.role, Problem: "is not a role", Accept: diag.OneOf(o.role, []string{"anchor", "fit", "all"})}
	}
	named := map[string]bool{}
	for _, prefix := range o.units {
		u, err := l.Find(prefix)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(want, l.Published.Role(u.ID)) {
			return nil, &diag.Refusal{Field: "--units", Value: prefix, Problem: fmt.Sprintf("has the role %s", l.Published.Role(u.ID)), Accept: "a unit of --role " + o.role, Rule: "COV-2"}
		}
		named[u.ID] = true
	}
	var units []*ledger.Unit
	for i := range l.Units {
		u := &l.Units[i]
		if slices.Contains(want, l.Published.Role(u.ID)) && (len(named) == 0 || named[u.ID]) && inLane(u, o.lane) {
			units = append(units, u)
		}
	}
	if len(units) == 0 {
		return nil, &diag.Refusal{Field: "--lane", Value: o.lane, Problem: "no unit matches", Accept: "words of a lane's name, e.g. \"vllm h200\""}
	}
	return units, nil
}

func inLane(u *ledger.Unit, words string) bool {
	lane := strings.ToLower(strings.Join([]string{u.Framework, u.Model, u.Hardware, u.Precision}, " "))
	for w := range strings.FieldsSeq(strings.ToLower(words)) {
		if !strings.Contains(lane, w) {
			return false
		}
	}
	return true
}

// experimental says why figures may not be published as the project's accuracy, or "".
func experimental(o options) string {
	switch {
	case o.ledger != "":
		return "The units come from a ledger directory given by path, not from the embedded one."
	case o.role != "anchor":
		return "Units of role " + o.role + " are scored; some may have been fitted on."
	case len(o.units) > 0 || o.lane != "":
		return "Only some of the anchor units are scored."
	case o.release == "":
		return "This build is not a release."
	}
	return ""
}

func simulate(ctx context.Context, w *world.World, build record.Build, units []*ledger.Unit, o options, progress io.Writer) ([]record.Trial, error) {
	program, err := programHash()
	if err != nil {
		return nil, err
	}
	store := &harness.Store{Dir: storeOf(o)}
	if !o.resume {
		if err := os.RemoveAll(store.Dir); err != nil {
			return nil, err
		}
	}
	h := &harness.World{Catalog: w.Catalog, Engines: w.Kinds, Simulate: w.Run, Typical: w.Typical,
		Build: map[string]string{"program": program, "catalog": build.Catalog, "registry": build.Registry}}
	said := time.Now()
	return h.Run(ctx, units, harness.Options{Jobs: o.jobs, Store: store, Done: func(t *record.Trial, done, total int) {
		if now := time.Now(); done == total || now.Sub(said) > 2*time.Second {
			said = now
			fmt.Fprintf(progress, "scored %d of %d units\n", done, total)
		}
	}})
}

// storeOf is where finished trials wait until the site that needs them is written.
func storeOf(o options) string { return filepath.Clean(o.out) + ".trials" }

func forget(o options) error { return os.RemoveAll(storeOf(o)) }

func publish(ctx context.Context, in page.Input, o options) error {
	if o.recordsOnly {
		return site.Records(ctx, in, o.out)
	}
	reference, err := fs.Sub(content.Reference, "generated")
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
	return site.Build(ctx, in, site.Options{Out: o.out, Library: o.library, Key: o.key, Prose: content.FS, Reference: reference, Rules: ids})
}
