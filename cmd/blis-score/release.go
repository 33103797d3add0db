package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/scorer"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/scorer/snapshot"
	"github.com/inference-sim/accuracy-dashboard/site/page"
)

// openArchive opens the releases published before and, for a release, refuses what
// may not be scored as one, before the long part (COV-9).
func (j *job) openArchive() error {
	if info, ok := debug.ReadBuildInfo(); ok {
		j.stack = snapshot.NewStack(info)
	}
	var err error
	if j.snapshots != "" {
		j.archive, err = openSnapshots(j.snapshots)
	} else {
		dir := filepath.Join(j.out, page.SnapshotsDir)
		j.archive, err = snapshot.Open(os.DirFS(dir))
		err = diag.Below(dir, err)
	}
	if err != nil {
		return err
	}
	if err := j.archive.Provenant(j.ledger); err != nil || j.release == "" {
		return err
	}
	if why := experimental(j.options); why != "" {
		return &diag.Refusal{Field: "--release", Value: j.release, Problem: "cannot be given to an experiment: " + why, Accept: "--release alone, for every anchor unit of the embedded ledger", Rule: "COV-2"}
	}
	if err := j.stack.Tagged(j.release); err != nil {
		return err
	}
	return j.archive.Unscored(j.release)
}

// keep adds the published releases to in, and a release's own scores to them. What
// is written must be a lawful successor of what was there (COV-8).
func (j *job) keep(in *page.Input) error {
	next := j.archive
	if j.release != "" {
		snap, err := snapshot.New(snapshot.Scores{Points: in.Points, Summary: in.Summary, Backlog: in.Backlog, Stack: j.stack, Ledger: j.ledger})
		if err != nil {
			return err
		}
		if next, err = j.archive.Add(snap); err != nil {
			return err
		}
	}
	if err := errors.Join(next.Succeeds(j.archive), next.Provenant(j.ledger)); err != nil {
		return err
	}
	var err error
	if in.Snapshots, err = next.Files(); err != nil {
		return err
	}
	for _, s := range next.Snapshots {
		sum, err := s.Summary()
		if err != nil {
			return err
		}
		points, err := s.Points()
		if err != nil {
			return err
		}
		in.Releases = append(in.Releases, page.Release{Name: s.Manifest.Release, ID: s.ID, Summary: sum, Points: points})
	}
	in.Changes = changes(in, j.options)
	if j.embedded() { // of other coefficients nothing is on record
		in.Fits, err = residuals()
	}
	return err
}

// changes compares each build with those before it: the releases in their order, and last what is
// no release, unless it is but a part of the anchor units.
func changes(in *page.Input, o options) []record.Change {
	var builds []scorer.Scores
	for _, r := range in.Releases {
		builds = append(builds, scorer.Scores{Name: r.Name, Points: r.Points})
	}
	release := in.Summary.Build.Release
	o.release = release
	if experimental(o) == "" && (len(builds) == 0 || builds[len(builds)-1].Name != release) {
		builds = append(builds, scorer.Scores{Name: release, Points: in.Points})
	}
	var out []record.Change
	for to := range builds {
		for from := max(0, to-page.Compared); from < to; from++ {
			out = append(out, scorer.Changes(builds[from], builds[to]))
		}
	}
	return out
}
