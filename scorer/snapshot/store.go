package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"golang.org/x/mod/semver"
)

// IndexSchema names the layout of a store's index.
const IndexSchema = "blis.snapshots/1"

// MaxFile is the size limit of one file of a store, in bytes.
const MaxFile = 64 << 20

// Index lists a store's releases in the order they were scored.
type Index struct {
	Schema   string  `json:"schema"`
	Releases []Entry `json:"releases"`
}

// Entry is one release and the id of its snapshot.
type Entry struct {
	Release string `json:"release"`
	ID      string `json:"id"`
}

// Store is every published snapshot, in the order they were scored: the directory
// holds index.json and, for each, <id>/snapshot.json and its files.
type Store struct{ Snapshots []*Snapshot }

const (
	indexFile    = "index.json"
	manifestFile = "snapshot.json"
)

// Open reads a store and recomputes every hash. A directory without an index is an
// empty store.
func Open(fsys fs.FS) (*Store, error) {
	s := new(Store)
	data, err := read(fsys, indexFile)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	var index Index
	if err := readDocument(indexFile, data, &index); err != nil {
		return nil, err
	}
	if index.Schema != IndexSchema {
		return nil, &diag.Refusal{File: indexFile, Field: "schema", Value: index.Schema, Problem: "is not an index of snapshots", Accept: IndexSchema}
	}
	for i, e := range index.Releases {
		if _, twice := s.Find(e.Release); twice {
			return nil, &diag.Refusal{File: indexFile, Field: fmt.Sprintf("releases[%d]", i), Value: e.Release, Problem: "is there twice", Accept: "each release once", Rule: "COV-9"}
		}
		snap, err := open(fsys, e)
		if err != nil {
			return nil, err
		}
		s.Snapshots = append(s.Snapshots, snap)
	}
	return s, nil
}

func open(fsys fs.FS, e Entry) (*Snapshot, error) {
	if len(e.ID) != 64 || !fs.ValidPath(e.ID+"/"+manifestFile) {
		return nil, &diag.Refusal{File: indexFile, Field: "id", Value: fmt.Sprintf("%.70q", e.ID), Problem: "is not a snapshot id", Accept: "64 hex digits"}
	}
	name := e.ID + "/" + manifestFile
	data, err := read(fsys, name)
	if err != nil {
		return nil, missing(name, err)
	}
	s := &Snapshot{ID: e.ID, Files: map[string][]byte{}}
	if err := readDocument(name, data, &s.Manifest); err != nil {
		return nil, err
	}
	id, err := canon.Hash(s.Manifest)
	switch {
	case err != nil:
		return nil, err
	case id != e.ID:
		return nil, &diag.Refusal{File: name, Value: e.ID, Problem: "is not the hash of the manifest: a published snapshot was changed", Accept: id, Rule: "COV-8"}
	case s.Manifest.Schema != Schema || s.Manifest.Release != e.Release || s.Manifest.Build.Release != e.Release || !tag.MatchString(e.Release):
		return nil, &diag.Refusal{File: name, Field: "release", Value: s.Manifest.Release, Problem: "is not the release the index says", Accept: e.Release, Rule: "COV-9"}
	case len(s.Manifest.Files) != len(names):
		return nil, &diag.Refusal{File: name, Field: "files", Problem: fmt.Sprintf("lists %d files", len(s.Manifest.Files)), Accept: fmt.Sprint(names), Rule: "COV-7"}
	}
	for _, n := range names {
		path := e.ID + "/" + n
		if s.Files[n], err = read(fsys, path); err != nil {
			return nil, missing(path, err)
		}
		if got := canon.Sum(s.Files[n]); got != s.Manifest.Files[n] {
			return nil, &diag.Refusal{File: path, Value: got, Problem: "is not the published content", Accept: s.Manifest.Files[n], Rule: "COV-8"}
		}
	}
	return s, nil
}

// readDocument reads a document that must be in the form this package writes.
func readDocument(name string, data []byte, v any) error {
	if err := strict.JSON(name, data, v); err != nil {
		return err
	}
	again, err := canon.Indent(v)
	if err == nil && !bytes.Equal(again, data) {
		err = &diag.Refusal{File: name, Problem: "is not in canonical form", Accept: "a file this program wrote", Rule: "COV-8"}
	}
	return err
}

func missing(name string, err error) error {
	if _, ok := errors.AsType[*diag.Refusal](err); ok {
		return err
	}
	return &diag.Refusal{File: name, Problem: "of a published snapshot is missing: " + err.Error(), Rule: "COV-8"}
}

func read(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err == nil && len(data) > MaxFile {
		err = &diag.Refusal{File: name, Problem: fmt.Sprintf("is larger than %d bytes", MaxFile)}
	}
	return data, err
}

// Find returns the snapshot of a release.
func (s *Store) Find(release string) (*Snapshot, bool) {
	for _, snap := range s.Snapshots {
		if snap.Manifest.Release == release {
			return snap, true
		}
	}
	return nil, false
}

// Unscored refuses a release that has scores (COV-9).
func (s *Store) Unscored(release string) error {
	if snap, ok := s.Find(release); ok {
		return &diag.Refusal{Field: "--release", Value: release, Problem: "is scored already, as snapshot " + snap.ID, Accept: "a release without scores", Rule: "COV-9"}
	}
	return nil
}

// Tag is a version tag and the commit it names, by full id.
type Tag struct{ Name, Commit string }

// Pending returns the releases among tags, which come in the order they were made,
// that have no scores. A pre-release is no release. A published release whose tag is
// gone or names another commit (LIF-1), or whose place among the tags is another than its
// place in the store, is refused: it was not scored in the order of the tags (COV-9).
func (s *Store) Pending(tags []Tag) ([]string, error) {
	var out []string
	at := map[string]int{}
	for i, t := range tags {
		if _, twice := at[t.Name]; twice || !semver.IsValid(t.Name) {
			return nil, &diag.Refusal{Field: "TAG", Value: t.Name, Problem: "is no version, or is given twice", Accept: "every version tag, e.g. v1.2.0, each once", Rule: "COV-9"}
		}
		at[t.Name] = i
		if _, scored := s.Find(t.Name); tag.MatchString(t.Name) && !scored {
			out = append(out, t.Name)
		}
	}
	last := -1
	for _, snap := range s.Snapshots {
		name, commit := snap.Manifest.Release, snap.Manifest.Build.Commit
		switch i, ok := at[name]; {
		case !ok:
			return nil, &diag.Refusal{Field: "TAG", Value: name, Problem: "is published and is no tag", Accept: "the tag of every published release", Rule: "COV-9"}
		case tags[i].Commit != commit:
			return nil, &diag.Refusal{Field: "TAG", Value: name + "=" + tags[i].Commit, Problem: "was moved since its release was scored", Accept: commit, Rule: "LIF-1"}
		case i < last:
			return nil, &diag.Refusal{Field: "TAG", Value: name, Problem: "is older than " + tags[last].Name + ", which was scored before it", Accept: "releases scored in the order of their tags", Rule: "COV-9"}
		default:
			last = i
		}
	}
	return out, nil
}

// Add returns the store with one more snapshot.
func (s *Store) Add(snap *Snapshot) (*Store, error) {
	if err := s.Unscored(snap.Manifest.Release); err != nil {
		return nil, err
	}
	return &Store{append(slices.Clone(s.Snapshots), snap)}, nil
}

// Files returns the bytes of every file of the store by slash-separated name; an
// empty store has none.
func (s *Store) Files() (map[string][]byte, error) {
	out := map[string][]byte{}
	if len(s.Snapshots) == 0 {
		return out, nil
	}
	index := Index{Schema: IndexSchema}
	var err error
	for _, snap := range s.Snapshots {
		index.Releases = append(index.Releases, Entry{snap.Manifest.Release, snap.ID})
		if out[snap.ID+"/"+manifestFile], err = canon.Indent(snap.Manifest); err != nil {
			return nil, err
		}
		for name, data := range snap.Files { //determinism:any-order each name writes its own
			out[snap.ID+"/"+name] = data
		}
	}
	out[indexFile], err = canon.Indent(index)
	return out, err
}

// Summary reads the summary a snapshot published.
func (s *Snapshot) Summary() (*record.Summary, error) {
	sum := new(record.Summary)
	return sum, strict.JSON(s.ID+"/summary.json", s.Files["summary.json"], sum)
}

// Points reads the points a snapshot published; they hold no trial.
func (s *Snapshot) Points() ([]record.Point, error) {
	var points []record.Point
	return points, strict.JSON(s.ID+"/points.json", s.Files["points.json"], &points)
}

// Succeeds refuses next as a successor of old: nothing vanishes, nothing published
// changes, and what is new comes after what is old (COV-8).
func (next *Store) Succeeds(old *Store) error {
	for i, was := range old.Snapshots {
		switch {
		case i >= len(next.Snapshots) || next.Snapshots[i].Manifest.Release != was.Manifest.Release:
			return &diag.Refusal{File: indexFile, Field: fmt.Sprintf("releases[%d]", i), Value: was.Manifest.Release, Problem: "has vanished", Accept: "every published release, in its place", Rule: "COV-8"}
		case next.Snapshots[i].ID != was.ID:
			return &diag.Refusal{File: indexFile, Field: fmt.Sprintf("releases[%d].id", i), Value: next.Snapshots[i].ID, Problem: "of " + was.Manifest.Release + " has changed", Accept: was.ID, Rule: "COV-8"}
		}
	}
	return nil
}

// Provenant recomputes the provenance of every snapshot that was scored on l, and
// refuses one that says anything else (COV-9).
func (s *Store) Provenant(l *ledger.Ledger) error {
	hash, err := l.Hash()
	if err != nil {
		return err
	}
	for _, snap := range s.Snapshots {
		if snap.Manifest.Build.Ledger != hash {
			continue
		}
		points, err := snap.Points()
		if err != nil {
			return err
		}
		if want := provenance(l, points); want != snap.Manifest.Provenance {
			return &diag.Refusal{File: snap.ID + "/" + manifestFile, Field: "provenance", Value: fmt.Sprint(snap.Manifest.Provenance), Problem: "does not follow from the ledger and the points", Accept: fmt.Sprint(want), Rule: "COV-9"}
		}
	}
	return nil
}
