// Package graph derives graph.yaml from the vendors' config.json and
// hf_quant_config.json.
//
// In: a model.yaml, the directory its derived_from source carries the vendor files
// in, and the source. Out: the bytes of graph.yaml, the same for the same input.
// An architecture without a handler, and a key that is neither read nor known to
// leave shapes alone, are refused: nothing is guessed (SUB-15). Only config files
// are read; safetensors headers are not at hand, so module names and what is never
// quantised (embeddings, norms, routers, lm_head) are the architecture's. The
// runtime never imports this package (SUB-3).
package graph

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"gopkg.in/yaml.v3"
)

// header opens every derived file.
const header = "# Derived from the files under derived_from by `blis catalog derive`. Do not edit.\n"

// Derive reads the vendor files of the model of file, and returns graph.yaml. A checkpoint owner/name is read from owner--name_config.json
// and, when it is there, owner--name_hf_quant_config.json.
func Derive(file string, m *catalog.Model, src *catalog.Source, dir fs.FS) ([]byte, error) {
	if len(m.DerivedFrom.Checkpoints) == 0 {
		return nil, &diag.Refusal{File: file, Field: "derived_from.checkpoints", Problem: "is empty", Accept: "at least one checkpoint", Rule: "SUB-3"}
	}
	var g *catalog.Graph
	var files []catalog.Derivation
	var stored []catalog.GraphStorage
	for _, name := range m.DerivedFrom.Checkpoints {
		one, err := readCheckpoint(name, src, dir)
		if err != nil {
			return nil, err
		}
		if g != nil && !reflect.DeepEqual(g, one.graph) {
			return nil, &diag.Refusal{File: one.files[0].Path, Problem: "has another shape than " + files[0].Path, Accept: "checkpoints of one model", Rule: "SUB-15"}
		}
		g, files, stored = one.graph, append(files, one.files...), append(stored, one.stored)
	}
	out := *g
	out.Model, out.DerivedFrom, out.Checkpoints = m.Name, files, stored
	return encodeYAML(&out)
}

// checkpoint is what one vendor repository's files say.
type checkpoint struct {
	graph  *catalog.Graph
	files  []catalog.Derivation
	stored catalog.GraphStorage
}

func readCheckpoint(name string, src *catalog.Source, dir fs.FS) (*checkpoint, error) {
	base := strings.ReplaceAll(name, "/", "--")
	cp := &checkpoint{}
	data, err := cp.open(dir, base+"_config.json", src)
	if err != nil {
		return nil, &diag.Refusal{File: base + "_config.json", Problem: err.Error(), Accept: "the directory of " + src.Repository + " " + src.Path, Rule: "SUB-15"}
	}
	g, h, quant, err := shape(base+"_config.json", data)
	if err != nil {
		return nil, err
	}
	s, err := readScheme(quant)
	if err != nil {
		return nil, err
	}
	switch data, err := cp.open(dir, base+"_hf_quant_config.json", src); {
	case err == nil:
		if s, err = readHFQuant(base+"_hf_quant_config.json", data); err != nil {
			return nil, err
		}
	case !isAbsent(err):
		return nil, err
	}
	cp.graph = g
	cp.stored.Checkpoint = name
	cp.stored.Storage, err = storage(base+"_config.json", g, h, s)
	return cp, err
}

// open reads a vendor file and notes its provenance.
func (cp *checkpoint) open(dir fs.FS, name string, src *catalog.Source) ([]byte, error) {
	data, err := fs.ReadFile(dir, name)
	if err != nil {
		return nil, err
	}
	cp.files = append(cp.files, catalog.Derivation{
		Repository: src.Repository, Revision: src.Revision, Path: path.Join(src.Path, name), SHA256: canon.Sum(data),
	})
	return data, nil
}

func encodeYAML(g *catalog.Graph) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(header)
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(g); err != nil {
		return nil, fmt.Errorf("graph.yaml of %s: %w", g.Model, err)
	}
	return b.Bytes(), enc.Close()
}

func isAbsent(err error) bool { return errors.Is(err, fs.ErrNotExist) }
