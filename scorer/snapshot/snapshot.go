// Package snapshot keeps the scores of releases: what a release's figures were, by
// content, so that a published one never changes and a new one is checked against
// all that were published before.
//
// In: points, summary, backlog and ledger of a finished run, or a store's files.
// Out: files, named by the hash of what they hold, or a refusal. A snapshot cannot
// be made of an experiment, of a part of the anchor units, or of a modified build.
// The package reads no clock and no environment.
//
// Source: Target Design §11.5, §11.8. Rules kept: COV-2, COV-6 to COV-9.
package snapshot

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// Schema names the layout of a snapshot's manifest.
const Schema = "blis.snapshot/1"

// Manifest is what a snapshot is: its hash is the snapshot's id.
type Manifest struct {
	Schema     string            `json:"schema"`
	Release    string            `json:"release"`
	Build      record.Build      `json:"build"`
	Provenance Provenance        `json:"provenance"`
	Files      map[string]string `json:"files"` // name to SHA-256
}

// Provenance is where the measured values came from. Every field follows from the
// ledger and the points, and is recomputed at every publication (COV-9).
type Provenance struct {
	Source   string      `json:"source"`
	Rows     ledger.File `json:"rows"`
	Launches ledger.File `json:"launches"`
	Units    string      `json:"units_sha256"`
	Records  int         `json:"records"`
	Points   int         `json:"points"`
	Newest   string      `json:"newest_measurement"` // date of the latest measurement a point covers
}

// Snapshot is one release's scores.
type Snapshot struct {
	ID       string
	Manifest Manifest
	Files    map[string][]byte
}

// Scores is a finished run.
type Scores struct {
	Points  []record.Point
	Summary *record.Summary
	Backlog *record.Backlog
	Stack   Stack
	Ledger  *ledger.Ledger
}

// names lists the files of every snapshot.
var names = []string{"backlog.json", "build.json", "coverage.json", "points.json", "stack.json", "summary.json"}

// New makes the snapshot of a release's scores.
func New(s Scores) (*Snapshot, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	b := s.Summary.Build
	snap := &Snapshot{Files: map[string][]byte{}, Manifest: Manifest{Schema: Schema, Release: b.Release, Build: b, Files: map[string]string{},
		Provenance: provenance(s.Ledger, s.Points)}}
	for name, doc := range map[string]any{ //determinism:any-order each name writes its own file
		"backlog.json": s.Backlog, "build.json": b, "coverage.json": s.Summary.Coverage, "points.json": s.Points, "stack.json": s.Stack, "summary.json": s.Summary,
	} {
		data, err := canon.Indent(doc)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		snap.Files[name], snap.Manifest.Files[name] = data, canon.Sum(data)
	}
	var err error
	snap.ID, err = canon.Hash(snap.Manifest)
	return snap, err
}

var tag = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$`)

// check refuses what may not be published.
func (s *Scores) check() error {
	b := s.Summary.Build
	refuse := func(field, value, problem, accept, rule string) error {
		return &diag.Refusal{Field: field, Value: value, Problem: problem, Accept: accept, Rule: rule}
	}
	switch c := s.Summary.Coverage; {
	case s.Summary.Experiment != "":
		return refuse("experimental", s.Summary.Experiment, "cannot be published", "every anchor unit of the embedded ledger, scored by a release", "COV-2")
	case !tag.MatchString(b.Release):
		return refuse("release", b.Release, "is not a release tag", "vMAJOR.MINOR.PATCH", "COV-9")
	case strings.Contains(b.Commit, "+") || b.Commit == "" || b.Commit == "unknown":
		return refuse("commit", b.Commit, "is not a commit", "a build of the tagged commit without local changes", "COV-9")
	case s.Backlog == nil || c.ByGrade == nil || c.Units == 0:
		return refuse("coverage", "", "or the backlog is missing", "both, beside every accuracy", "COV-7")
	case c.Units != len(s.Points):
		return refuse("coverage.units", fmt.Sprint(c.Units), fmt.Sprintf("is not the number of points, %d", len(s.Points)), "one point a unit", "COV-1")
	}
	if err := s.checkBuild(); err != nil {
		return err
	}
	return s.checkAnchors()
}

// checkBuild holds every point to the one build that the summary names (COV-6).
func (s *Scores) checkBuild() error {
	b := s.Summary.Build
	for i := range s.Points {
		p := &s.Points[i]
		if p.Grade == record.G5 || p.Trial == nil {
			continue
		}
		if p.Trial.Simulated != b.Engines[p.Engine] {
			return &diag.Refusal{Field: "points." + p.UnitID, Value: p.Trial.Simulated, Problem: "was simulated as another engine build than the release runs", Accept: b.Engines[p.Engine], Rule: "COV-6"}
		}
	}
	if b.Engines == nil || s.Stack.Main.Path == "" {
		return &diag.Refusal{Field: "stack", Problem: "names no build", Accept: "the program's own build information", Rule: "COV-6"}
	}
	return nil
}

// checkAnchors holds the points to the anchor units, each once and all of them (COV-2).
func (s *Scores) checkAnchors() error {
	var want, got []string
	for u := range s.Ledger.ByRole(ledger.Anchor) {
		want = append(want, u.ID)
	}
	for i := range s.Points {
		got = append(got, s.Points[i].UnitID)
	}
	slices.Sort(got)
	if slices.Equal(got, want) {
		return nil
	}
	for i, id := range got {
		if _, ok := slices.BinarySearch(want, id); !ok || i > 0 && got[i-1] == id {
			return &diag.Refusal{Field: "points", Value: id, Problem: "is no anchor unit, or is scored twice", Accept: "the anchor units of the embedded ledger, each once", Rule: "COV-2"}
		}
	}
	return &diag.Refusal{Field: "points", Value: fmt.Sprint(len(got)), Problem: fmt.Sprintf("of %d anchor units: a part is not a release's score", len(want)), Accept: "all of them", Rule: "COV-8"}
}

func provenance(l *ledger.Ledger, points []record.Point) Provenance {
	p := Provenance{Source: l.Report.Source, Rows: l.Report.Rows, Launches: l.Report.Launches, Units: l.Report.UnitsSHA256, Records: l.Report.Records.Read, Points: len(points)}
	for i := range points {
		if u, ok := l.Unit(points[i].UnitID); ok && u.MeasuredDate != nil {
			p.Newest = max(p.Newest, *u.MeasuredDate)
		}
	}
	return p
}
