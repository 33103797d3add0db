// Package catalog holds published facts: chips, networks, models and the sources
// they were read from.
//
// In: a file system of YAML documents (the embedded one, a directory, overlays).
// Out: a Catalog, whole and checked, with its content hash. Nothing here is
// fitted, measured by us or assumed: those are coefficients (package registry).
// It reads no vendor config.json, no environment and no network, and never
// changes a file. Rules kept: SUB-3, SUB-9, SUB-12, SUB-15, SUB-16, SUB-18 and
// §3.3 of the Target Design.
package catalog

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// Catalog is a checked set of entries. It never changes after Open.
type Catalog struct {
	hashes   Hashes
	files    []File
	chips    map[string]*Chip
	networks map[string]*Network
	models   map[string]*Model
	graphs   map[string]*Graph // by model; joined into Model.Graph by check
	sources  map[string]*Source
	routers  map[string]*RouterTable
	aliases  map[Alias]Ref // keyed without Note
}

// Ref is what an alias stands for.
type Ref struct {
	Kind       string `json:"kind,omitempty"` // "chip" or "model"
	Name       string `json:"name,omitempty"`
	Checkpoint string `json:"checkpoint,omitempty"` // set when the alias is a checkpoint's own name
}

// Open reads and checks base with each overlay's entries added or put in place of
// base's, in order. An entry is one file of hardware, networks, routers or sources, or
// one whole model directory. The error is a *diag.Refusal naming the file.
func Open(base fs.FS, overlays ...fs.FS) (*Catalog, error) {
	files, hashes, err := gather(base, overlays)
	if err != nil {
		return nil, err
	}
	c := &Catalog{
		hashes: hashes, files: files, chips: map[string]*Chip{}, networks: map[string]*Network{},
		models: map[string]*Model{}, graphs: map[string]*Graph{}, sources: map[string]*Source{}, routers: map[string]*RouterTable{}, aliases: map[Alias]Ref{},
	}
	for _, f := range files {
		if err := c.decode(f); err != nil {
			return nil, err
		}
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	return c, nil
}

// Hashes identify the files a Catalog was read from.
func (c *Catalog) Hashes() Hashes { return c.hashes }

// File is one data file as it was read.
type File struct {
	Path string // relative to the data directory
	Data []byte
}

// Files returns the files of the entries called name, sorted by path.
func (c *Catalog) Files(name string) []File {
	var out []File
	for _, f := range c.files {
		base := strings.TrimSuffix(path.Base(f.Path), ".yaml")
		if base == name || path.Base(path.Dir(f.Path)) == name {
			out = append(out, f)
		}
	}
	return out
}

// Resolve returns the entry a data source calls name. A checkpoint's own name and
// an entry's own name resolve in every source. ok is false when nothing is known
// by it.
func (c *Catalog) Resolve(source, name string) (ref Ref, ok bool) {
	if ref, ok = c.aliases[Alias{Source: source, Name: name}]; ok {
		return ref, true
	}
	ref, ok = c.aliases[Alias{Name: name}]
	return ref, ok
}

// Chip returns a chip by its catalog name, or a refusal that names the path its
// entry belongs at.
func (c *Catalog) Chip(name string) (*Chip, error) {
	return get(c.chips, "chip", name, "hardware/%.yaml")
}

// Network returns a network by its catalog name.
func (c *Catalog) Network(name string) (*Network, error) {
	return get(c.networks, "network", name, "networks/%.yaml")
}

// Model returns a model, its graph and its resolved checkpoints by catalog name.
func (c *Catalog) Model(name string) (*Model, error) {
	return get(c.models, "model", name, "models/%/model.yaml")
}

// Source returns a cited source by id.
func (c *Catalog) Source(id string) (*Source, error) {
	return get(c.sources, "source", id, "sources/%.yaml")
}

// Chips, Networks, Models and Sources list the entries' names in byte order.
func (c *Catalog) Chips() []string    { return names(c.chips) }
func (c *Catalog) Networks() []string { return names(c.networks) }
func (c *Catalog) Models() []string   { return names(c.models) }
func (c *Catalog) Sources() []string  { return names(c.sources) }

func names[T any](m map[string]*T) []string { return slices.Sorted(maps.Keys(m)) }

func get[T any](m map[string]*T, kind, name, path string) (*T, error) {
	if e, ok := m[name]; ok {
		return e, nil
	}
	return nil, &diag.Refusal{
		Field: kind, Value: name,
		Problem: "is not in the catalog; its entry belongs at " + fill(path, name),
		Accept:  diag.OneOf(name, names(m)), Rule: "SUB-3",
	}
}
