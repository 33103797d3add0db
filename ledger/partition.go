package ledger

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

// Partition is one way roles are drawn: the cut-points of a version. A change to
// it redraws roles, so a person approves it (D4).
type Partition struct {
	Version  int           `json:"version"`
	Cuts     Cuts          `json:"cuts"`
	Approved string        `json:"approved"` // who approved the version, and where
	Retired  []RetiredSeed `json:"retired"`  // seeds of earlier versions, by version
}

// Cuts are percent: a key's draw, 0 to 99, falls to the first role whose bound is
// above it. The legacy bounds divide fit from select, and held from anchor, on
// the side an earlier partition gave a unit.
type Cuts struct {
	Fit        int64 `json:"fit"`
	Select     int64 `json:"select"`
	Validate   int64 `json:"validate"`
	Held       int64 `json:"held"`
	LegacyFit  int64 `json:"legacy_fit"`
	LegacyHeld int64 `json:"legacy_held"`
}

// RetiredSeed is a seed that is secret no more: its hash shows that the split was
// drawn as claimed.
type RetiredSeed struct {
	Version    int    `json:"version"`
	SeedSHA256 string `json:"seed_sha256"`
	Seed       string `json:"seed"` // 64 hex digits
}

// partitionOne is the partition of a ledger that states none.
var partitionOne = Partition{Version: 1, Cuts: Cuts{Fit: 30, Select: 35, Validate: 40, Held: 65, LegacyFit: 86, LegacyHeld: 42}}

const partitionFile = "partition.json"

// partition is l's, or the first.
func (l *Ledger) partition() *Partition {
	if l.Partition == nil {
		return &partitionOne
	}
	return l.Partition
}

func openPartition(fsys fs.FS) (*Partition, error) {
	data, err := fs.ReadFile(fsys, partitionFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &diag.Refusal{File: partitionFile, Problem: "cannot be read: " + err.Error()}
	}
	p := new(Partition)
	if err := strict.JSON(partitionFile, data, p); err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, diag.In(partitionFile, err)
	}
	return p, canonical(partitionFile, data, p)
}

func (p *Partition) check() error {
	bad := func(field, value, problem, accept string) error {
		return &diag.Refusal{Field: field, Value: value, Problem: problem, Accept: accept, Rule: "D4"}
	}
	last := int64(0)
	for _, c := range []struct {
		name  string
		bound int64
	}{{"fit", p.Cuts.Fit}, {"select", p.Cuts.Select}, {"validate", p.Cuts.Validate}, {"held", p.Cuts.Held}} {
		if c.bound < last || c.bound > 100 {
			return bad("cuts."+c.name, fmt.Sprint(c.bound), "is out of order", "rising bounds from 0 to 100")
		}
		last = c.bound
	}
	switch c := p.Cuts; {
	case p.Version < 1:
		return bad("version", fmt.Sprint(p.Version), "is not a version", "1 or more")
	case c.LegacyFit < 0 || c.LegacyFit > 100:
		return bad("cuts.legacy_fit", fmt.Sprint(c.LegacyFit), "is not a share", "0 to 100")
	case c.LegacyHeld < 0 || c.LegacyHeld > 100:
		return bad("cuts.legacy_held", fmt.Sprint(c.LegacyHeld), "is not a share", "0 to 100")
	case p.Version > 1 && p.Approved == "":
		return bad("approved", "", "is empty", "who approved the version, and where")
	}
	return p.checkRetired()
}

// checkRetired holds each published seed to the hash that was committed.
func (p *Partition) checkRetired() error {
	for i, r := range p.Retired {
		field := fmt.Sprintf("retired[%d]", i)
		seed, err := ReadSeed(r.Seed)
		switch {
		case err != nil:
			return &diag.Refusal{Field: field + ".seed", Problem: "is not a seed", Accept: "64 hex digits"}
		case canon.Sum(seed) != r.SeedSHA256:
			return &diag.Refusal{Field: field + ".seed", Problem: "has another hash than the one committed", Accept: r.SeedSHA256, Rule: "D4"}
		case r.Version >= p.Version || i > 0 && r.Version <= p.Retired[i-1].Version:
			return &diag.Refusal{Field: field + ".version", Value: fmt.Sprint(r.Version), Problem: "is out of order", Accept: "rising versions below this one"}
		}
	}
	return nil
}

// role is where a draw of 0 to 99 falls; side is the unit's legacy side, or "".
func (c *Cuts) role(draw int64, side Role) Role {
	switch {
	case side == Fit && draw < c.LegacyFit, side == "" && draw < c.Fit:
		return Fit
	case side == Fit, side == "" && draw < c.Select:
		return Select
	case side == Held && draw < c.LegacyHeld:
		return Held
	case side == Held:
		return Anchor
	case draw < c.Validate:
		return Validate
	case draw < c.Held:
		return Held
	}
	return Anchor
}
