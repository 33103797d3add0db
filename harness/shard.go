package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
	"github.com/inference-sim/accuracy-dashboard/internal/swap"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// Shard is one of several equal parts of a run. Which units it holds depends on
// their order and the number of parts alone.
type Shard struct {
	Index int `json:"index"` // from 1
	Of    int `json:"of"`
}

// maxShards bounds Of; more parts than units would leave empty ones.
const maxShards = 1024

// ParseShard reads "i/n".
func ParseShard(text string) (Shard, error) {
	i, n, _ := strings.Cut(text, "/")
	s := Shard{}
	var errI, errN error
	s.Index, errI = strconv.Atoi(i)
	s.Of, errN = strconv.Atoi(n)
	if errI != nil || errN != nil || s.Of < 1 || s.Of > maxShards || s.Index < 1 || s.Index > s.Of {
		return s, &diag.Refusal{Field: "--shard", Value: text, Problem: "is not a part of a whole", Accept: fmt.Sprintf("i/n with 1 <= i <= n <= %d, e.g. 2/7", maxShards)}
	}
	return s, nil
}

// Pick returns every Of-th unit from the Index-th. Neighbours in the order of ids
// have nothing in common, so parts take about equal time.
func (s Shard) Pick(units []*ledger.Unit) []*ledger.Unit {
	var out []*ledger.Unit
	for i := s.Index - 1; i < len(units); i += s.Of {
		out = append(out, units[i])
	}
	return out
}

// Part is what a shard's directory says of itself, beside one file a trial.
type Part struct {
	Schema    string            `json:"schema"`
	Shard     Shard             `json:"shard"`
	Units     int               `json:"units"`        // of the whole run
	UnitsSHA  string            `json:"units_sha256"` // of their ids, in order
	Trials    int               `json:"trials"`       // in this part
	Build     map[string]string `json:"build"`        // what made them
	Selection map[string]string `json:"selection"`    // what chose the units
}

const (
	partSchema = "blis.shard/1"
	partFile   = "shard.json"
	trialsDir  = "trials"
)

// WritePart makes dir the part of s: its trials and what they are part of. dir
// appears whole or not at all.
func (w *World) WritePart(dir string, s Shard, units []*ledger.Unit, trials []record.Trial, selection map[string]string) error {
	sum, err := idsHash(units)
	if err != nil {
		return err
	}
	part := Part{Schema: partSchema, Shard: s, Units: len(units), UnitsSHA: sum, Trials: len(trials), Build: w.Build, Selection: selection}
	head, err := canon.Indent(part)
	if err != nil {
		return err
	}
	dir = filepath.Clean(dir)
	if err := PartReplaceable(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return &diag.Refusal{File: dir, Problem: "cannot be written: " + err.Error(), Accept: "a directory you may write"}
	}
	work, done, err := swap.Workspace(dir)
	if err != nil {
		return &diag.Refusal{File: dir, Problem: "cannot be written: " + err.Error(), Accept: "a directory you may write"}
	}
	defer done()
	next := filepath.Join(work, "part")
	store := &Store{Dir: filepath.Join(next, trialsDir)}
	if err := os.MkdirAll(store.Dir, 0o755); err != nil {
		return err
	}
	for i := range trials {
		key, err := w.key(trials[i].Unit)
		if err != nil {
			return err
		}
		if err := store.save(key, &trials[i]); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(next, partFile), head, 0o644); err != nil {
		return err
	}
	return swap.Dir(next, dir)
}

// PartReplaceable accepts a path that is free, an empty directory, or an earlier part.
func PartReplaceable(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err == nil {
		_, err = ReadPart(dir)
	}
	if err != nil {
		return &diag.Refusal{File: dir, Problem: "holds what is not a shard, and would be replaced", Accept: "a new or empty directory, or an earlier shard"}
	}
	return nil
}

// ReadPart reads what dir says of itself.
func ReadPart(dir string) (*Part, error) {
	file := filepath.Join(dir, partFile)
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, &diag.Refusal{File: file, Problem: "cannot be read: " + err.Error(), Accept: "a directory that --shard made"}
	}
	return parsePart(file, data)
}

func parsePart(file string, data []byte) (*Part, error) {
	p := new(Part)
	if err := strict.JSON(file, data, p); err != nil {
		return nil, err
	}
	if p.Schema != partSchema {
		return nil, &diag.Refusal{File: file, Field: "schema", Value: p.Schema, Problem: "is not a shard", Accept: partSchema}
	}
	if _, err := ParseShard(fmt.Sprintf("%d/%d", p.Shard.Index, p.Shard.Of)); err != nil {
		return nil, diag.In(file, err)
	}
	return p, nil
}

// Merge returns the trials of a whole run from its parts, in the order of units. A
// part that is lost, doubled, of another run or of another build is refused by
// count, before any trial is read.
func (w *World) Merge(dirs []string, units []*ledger.Unit) ([]record.Trial, error) {
	sum, err := idsHash(units)
	if err != nil {
		return nil, err
	}
	at := map[int]string{} // directory by shard index
	of := 0
	for _, dir := range dirs {
		p, err := ReadPart(dir)
		if err != nil {
			return nil, err
		}
		bad := func(field string, got, want any) error {
			return &diag.Refusal{File: filepath.Join(dir, partFile), Field: field, Value: fmt.Sprint(got), Problem: "is another run's", Accept: fmt.Sprint(want), Rule: "COV-8"}
		}
		switch other, doubled := at[p.Shard.Index]; {
		case p.UnitsSHA != sum || p.Units != len(units):
			return nil, bad("units", p.Units, fmt.Sprintf("%d units, with the same ids", len(units)))
		case of > 0 && p.Shard.Of != of:
			return nil, bad("shard.of", p.Shard.Of, of)
		case doubled:
			return nil, &diag.Refusal{File: dir, Field: "shard.index", Value: fmt.Sprint(p.Shard.Index), Problem: "is given twice: " + other + " is the same part", Accept: "each part once", Rule: "COV-8"}
		case p.Trials != len(p.Shard.Pick(units)):
			return nil, bad("trials", p.Trials, len(p.Shard.Pick(units)))
		}
		at[p.Shard.Index], of = dir, p.Shard.Of
	}
	for i := 1; i <= of; i++ {
		if at[i] == "" {
			return nil, &diag.Refusal{Field: "DIR", Value: fmt.Sprintf("%d/%d", i, of), Problem: fmt.Sprintf("is lost: %d of %d parts are given", len(at), of), Accept: "every part of the run", Rule: "COV-8"}
		}
	}
	return w.collect(at, of, units)
}

// collect loads unit i from the part that holds it.
func (w *World) collect(at map[int]string, of int, units []*ledger.Unit) ([]record.Trial, error) {
	trials := make([]record.Trial, len(units))
	for i, u := range units {
		key, err := w.key(u)
		if err != nil {
			return nil, err
		}
		dir := filepath.Join(at[i%of+1], trialsDir)
		t, err := (&Store{Dir: dir}).load(u, key)
		if err != nil {
			return nil, err
		}
		if t == nil {
			return nil, &diag.Refusal{File: dir, Field: "unit", Value: u.ID, Problem: "is missing, or was tried by another build than this one", Accept: "parts that this very program made", Rule: "COV-6"}
		}
		trials[i] = *t
	}
	return trials, nil
}

func idsHash(units []*ledger.Unit) (string, error) {
	ids := make([]string, len(units))
	for i, u := range units {
		ids[i] = u.ID
	}
	return canon.Hash(ids)
}
