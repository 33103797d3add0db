package ledger

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// Published are the role lists the holder of the seed made: sorted unit ids,
// and the SHA-256 that commits to the seed. An id may stay listed after ingest
// merges or leaves out all its records.
type Published struct {
	Fit, Anchor []string
	SeedSHA256  string
}

const (
	fitFile    = "published/fit.txt"
	anchorFile = "published/anchor.txt"
	seedFile   = "published/seed.sha256"
)

// OpenPublished reads the lists under published/ of fsys.
func OpenPublished(fsys fs.FS) (Published, error) {
	var p Published
	var err error
	if p.Fit, err = readIDs(fsys, fitFile); err != nil {
		return p, err
	}
	if p.Anchor, err = readIDs(fsys, anchorFile); err != nil {
		return p, err
	}
	for i, id := range p.Anchor {
		if _, both := slices.BinarySearch(p.Fit, id); both {
			return p, &diag.Refusal{File: anchorFile, Line: i + 1, Field: "unit_id", Value: id, Problem: "is on the fit list too", Accept: "one role a unit", Rule: "D2"}
		}
	}
	seed, err := readIDs(fsys, seedFile)
	if err != nil {
		return p, err
	}
	if len(seed) != 1 {
		return p, &diag.Refusal{File: seedFile, Problem: fmt.Sprintf("holds %d hashes", len(seed)), Accept: "one"}
	}
	p.SeedSHA256 = seed[0]
	return p, nil
}

// Role returns the published role of a unit id.
func (p *Published) Role(id string) Role {
	if _, ok := slices.BinarySearch(p.Fit, id); ok {
		return Fit
	}
	if _, ok := slices.BinarySearch(p.Anchor, id); ok {
		return Anchor
	}
	return Unlisted
}

func readIDs(fsys fs.FS, name string) ([]string, error) {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, &diag.Refusal{File: name, Problem: "cannot be read: " + err.Error(), Accept: "a directory made by ledger ingest"}
	}
	var ids []string
	err = eachLine(name, data, func(n int, line []byte) error {
		id := string(line)
		if !isHash(id) {
			return &diag.Refusal{Field: "unit_id", Value: id, Problem: "is not a lower-case SHA-256", Accept: "64 digits of 0-9a-f"}
		}
		if len(ids) > 0 && ids[len(ids)-1] >= id {
			return &diag.Refusal{Field: "unit_id", Value: id, Problem: "is out of order or twice", Accept: "sorted ids, each once"}
		}
		ids = append(ids, id)
		return nil
	})
	return ids, err
}

func isHash(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

func encodeIDs(ids []string) []byte {
	var b bytes.Buffer
	for _, id := range ids {
		b.WriteString(id + "\n")
	}
	return b.Bytes()
}
