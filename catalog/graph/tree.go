package graph

import (
	"bytes"
	"io/fs"
	"path"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

// Derived is one model's graph.yaml: as the tree has it (nil when absent) and as
// the vendor files give it.
type Derived struct {
	Model      string
	Path       string // relative to the tree
	Have, Want []byte
}

// DeriveAll derives the graph of every models/*/model.yaml of tree, in byte order of
// names, from the vendor files of dir. It reads model.yaml and sources alone, so a
// model without a graph yet can be given one.
func DeriveAll(tree, dir fs.FS) ([]Derived, error) {
	found, err := fs.Glob(tree, "models/*/model.yaml")
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, &diag.Refusal{Field: "models", Problem: "the catalog holds no models/*/model.yaml", Rule: "SUB-3"}
	}
	var out []Derived
	for _, file := range found {
		d, err := deriveOne(tree, dir, file)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

func deriveOne(tree, dir fs.FS, file string) (Derived, error) {
	data, err := fs.ReadFile(tree, file)
	if err != nil {
		return Derived{}, err
	}
	var m catalog.Model
	if err := strict.YAML(file, data, &m); err != nil {
		return Derived{}, err
	}
	src, err := source(tree, file, m.DerivedFrom.Source)
	if err != nil {
		return Derived{}, err
	}
	want, err := Derive(file, &m, src, dir)
	if err != nil {
		return Derived{}, err
	}
	d := Derived{Model: m.Name, Path: path.Dir(file) + "/graph.yaml", Want: want}
	d.Have, err = fs.ReadFile(tree, d.Path)
	if err != nil && !isAbsent(err) {
		return Derived{}, err
	}
	return d, nil
}

func source(tree fs.FS, file, id string) (*catalog.Source, error) {
	at := "sources/" + id + ".yaml"
	data, err := fs.ReadFile(tree, at)
	if err != nil {
		return nil, &diag.Refusal{File: file, Field: "derived_from.source", Value: id, Problem: "is not a source of the catalog", Accept: "an id with " + at, Rule: "SUB-3"}
	}
	src := new(catalog.Source)
	return src, strict.YAML(at, data, src)
}

// Differs is the first line (1-based) at which the committed graph and the derived
// one part, with both sides; line is 0 when they are equal.
func (d Derived) Differs() (line int, have, want string) {
	if bytes.Equal(d.Have, d.Want) {
		return 0, "", ""
	}
	a, b := strings.SplitAfter(string(d.Have), "\n"), strings.SplitAfter(string(d.Want), "\n")
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	at := func(lines []string) string {
		if i < len(lines) {
			return strings.TrimSuffix(lines[i], "\n")
		}
		return ""
	}
	return i + 1, at(a), at(b)
}
