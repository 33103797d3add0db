package catalog

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// tiny is the smallest catalog with one entry of each kind.
func tiny() fstest.MapFS {
	text := map[string]string{
		"sources/s.yaml":  "schema: blis.source/v1\nid: s\ntitle: S\ndocument: the S document\nlicence: none stated\n",
		"networks/n.yaml": "schema: blis.network/v1\nname: n\ntitle: N\nkind: scale_up\ntopology: switched\nworld: {value: 8, unit: GPU, kind: published, sources: [s]}\nbandwidth: {value: 450, unit: GB/s, kind: published, sources: [s]}\n",
		"hardware/c.yaml": `schema: blis.chip/v1
name: c
title: C
vendor: v
architecture: hopper
compute_capability: "9.0"
aliases:
  - {source: data, name: c_sxm}
memory: {value: 80, unit: GiB, kind: published, sources: [s]}
memory_bandwidth: {value: 3.35, unit: TB/s, kind: published, sources: [s]}
bf16: {value: 989, unit: TFLOP/s, kind: datasheet, sources: [s]}
scale_up: n
`,
		"models/m/model.yaml": `schema: blis.model/v1
name: m
title: M
parameters:
  total: {value: 196480, tolerance: 0.001}
  sources: [s]
derived_from: {source: s, checkpoints: [o/m]}
aliases:
  - {source: data, name: o/M}
checkpoints:
  - {name: o/m, precisions: [bf16]}
`,
		"models/m/graph.yaml": `schema: blis.graph/v1
model: m
architecture: LlamaForCausalLM
derived_from:
  - {repository: r, revision: v, path: p, sha256: h}
hidden: 128
vocab: 256
max_position: 1024
tied_embeddings: false
dtype: bf16
rope: {scaling: none, theta: 10000}
blocks:
  - name: dense
    norms: 2
    attention: {kind: full, heads: 4, kv_heads: 2, head_dim: 32, value_head_dim: 32}
    mlp: {inter: 212}
layers:
  - {repeat: 1, pattern: [dense]}
checkpoints:
  - checkpoint: o/m
    kv_cache: bf16
    tensors: {embedding: bf16, norm: bf16, attention_in: bf16, attention_out: bf16, dense_mlp: bf16, lm_head: bf16}
`,
	}
	out := fstest.MapFS{}
	for name, data := range text { //determinism:any-order fills a map
		out[name] = &fstest.MapFile{Data: []byte(data)}
	}
	return out
}

// change is one edit of the tiny catalog: a file put in place, or a text replaced
// in one that is there.
type change struct {
	path, old, new string
	link           bool
}

func (c change) apply(t *testing.T, m fstest.MapFS) {
	t.Helper()
	switch f := m[c.path]; {
	case c.link:
		m[c.path] = &fstest.MapFile{Data: []byte(c.new), Mode: fs.ModeSymlink}
	case c.old == "":
		m[c.path] = &fstest.MapFile{Data: []byte(c.new)}
	case f == nil || !strings.Contains(string(f.Data), c.old):
		t.Fatalf("%s: has no %q to replace", c.path, c.old)
	default:
		m[c.path] = &fstest.MapFile{Data: []byte(strings.Replace(string(f.Data), c.old, c.new, 1))}
	}
}

const chip, network, model, graphFile = "hardware/c.yaml", "networks/n.yaml", "models/m/model.yaml", "models/m/graph.yaml"

// refusals pairs the smallest catalog refused with the closest one accepted.
var refusals = []struct {
	name       string
	bad        change
	want       string // in the error
	acceptable change
}{
	{"stray file", change{path: "hardware/d.yml", new: "x"}, "hardware/d.yml: is not a data file", change{path: "scripts/d.yml", new: "x"}},
	{"stray beside a model", change{path: "models/m/notes.txt", new: "x"}, "is not a data file", change{path: "models/m/config.json", new: "x"}},
	{"symbolic link", change{path: "sources/l.yaml", new: "s.yaml", link: true}, "sources/l.yaml: is a symbolic link", change{path: "other/l.yaml", new: "s.yaml", link: true}},
	{"linked directory", change{path: "models", new: "x", link: true}, "models: is a symbolic link", change{path: "other", new: "x", link: true}},
	{"carriage return", change{chip, "title: C\n", "title: C\r\n", false}, "hardware/c.yaml:3: contains a carriage return", change{chip, "title: C\n", "title: \"C\\r\"\n", false}},
	{"case clash", change{path: "sources/S.yaml", new: "x"}, "only in letter case", change{path: "sources/t.yaml", new: "schema: blis.source/v1\nid: t\ntitle: T\ndocument: d\nlicence: MIT\n"}},
	{"unknown key", change{chip, "vendor: v\n", "vendor: v\nvendors: w\n", false}, "vendors: unknown key", change{chip, "vendor: v\n", "vendor: w\n", false}},
	{"repeated key", change{chip, "vendor: v\n", "vendor: v\nvendor: v\n", false}, "repeats the key", change{chip, "title: C\n", "title: vendor\n", false}},
	{"not a number", change{chip, "value: 989", "value: .nan", false}, "is not a finite number", change{chip, "value: 989", "value: 989.5", false}},
	{"zero", change{chip, "value: 989", "value: 0", false}, "bf16.value: 0: is not positive", change{chip, "value: 989", "value: 0.1", false}},
	{"no citation", change{chip, "kind: datasheet, sources: [s]", "kind: datasheet, sources: []", false}, "bf16.sources: cites nothing", change{chip, "kind: datasheet, sources: [s]", "kind: datasheet, sources: [s, s]", false}},
	{"unknown source", change{chip, "kind: datasheet, sources: [s]", "kind: datasheet, sources: [t]", false}, "bf16.sources: t: is not a source", change{chip, "kind: datasheet", "kind: published", false}},
	{"other unit", change{chip, "unit: TB/s", "unit: GB/s", false}, "memory_bandwidth.unit: GB/s", change{chip, "value: 3.35", "value: 3.4", false}},
	{"assumed figure", change{chip, "kind: datasheet", "kind: assumed", false}, "is not a kind of figure", change{chip, "kind: datasheet", "kind: measured", false}},
	{"missing network", change{chip, "scale_up: n", "scale_up: o", false}, "scale_up: o: is not a scale_up network", change{chip, "scale_up: n\n", "", false}},
	{"unfollowable source", change{"sources/s.yaml", "document: the S document\n", "", false}, "cannot be followed", change{"sources/s.yaml", "document: the S document\n", "repository: a/b\nrevision: c\npath: d\n", false}},
	{"scale-out world", change{network, "kind: scale_up", "kind: scale_out", false}, "world: is the size of a scale-up domain", change{network, "topology: switched", "topology: full_mesh", false}},
	{"wrong name", change{chip, "name: c\n", "name: d\n", false}, "name: d: is not what the path says", change{chip, "title: C", "title: D", false}},
	{"wrong schema", change{chip, "blis.chip/v1", "blis.chip/v2", false}, "schema: blis.chip/v2", change{chip, "title: C", "title: blis.chip/v2", false}},
	{"alias taken", change{model, "name: o/M", "name: c_sxm", false}, "c_sxm: already stands for chip c", change{model, "source: data, name: o/M", "source: other, name: c_sxm", false}},
	{"count off", change{model, "value: 196480", "value: 197480", false}, "the graph has", change{model, "value: 196480", "value: 196580", false}},
	{"unknown checkpoint", change{model, "name: o/m, prec", "name: o/n, prec", false}, "stored_as: o/n: is not a checkpoint", change{model, "name: o/m, prec", "name: o/n, stored_as: o/m, prec", false}},
	{"unknown format", change{graphFile, "dense_mlp: bf16", "dense_mlp: fp4", false}, `"fp4" is not a storage format`, change{graphFile, "dense_mlp: bf16", "dense_mlp: nvfp4", false}},
	{"class without tensors", change{graphFile, "dense_mlp: bf16", "dense_mlp: bf16, expert: bf16", false}, "expert: must have a format exactly when", change{graphFile, "dense_mlp: bf16", "dense_mlp: fp8", false}},
	{"class without format", change{graphFile, "dense_mlp: bf16, ", "", false}, "dense_mlp: must have a format exactly when", change{graphFile, "kv_cache: bf16", "kv_cache: fp8", false}},
	{"undefined block", change{graphFile, "pattern: [dense]", "pattern: [dense, moe]", false}, "moe: is not a block", change{graphFile, "repeat: 1", "repeat: 1", false}},
	{"no layers", change{graphFile, "repeat: 1", "repeat: 0", false}, "layers: 0: is not positive", change{graphFile, "norms: 2", "norms: 2", false}},
	{"uneven heads", change{graphFile, "kv_heads: 2", "kv_heads: 3", false}, "does not divide 4 heads", change{graphFile, "value_head_dim: 32}", "value_head_dim: 32, rotary_dim: 16}", false}},
	{"incomplete kind", change{graphFile, "kind: full", "kind: sliding", false}, "sliding: lacks a size", change{graphFile, "kind: full", "kind: sliding, window: 8", false}},
	{"unknown kind", change{graphFile, "kind: full", "kind: linear", false}, "linear: is not a kind of attention", change{graphFile, "kind: full", "kind: chunked, window: 8", false}},
}

// TestOpenRefuses runs every case as a base catalog in memory, as a directory, and
// as an overlay whose one file replaces the good one: the same code, the same error.
func TestOpenRefuses(t *testing.T) {
	keep.Rule(t, "D3", "SUB-2", "SUB-3", "SUB-9", "SUB-12", "SUB-16", "SUB-18", "X12")
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			bad, good := tiny(), tiny()
			c.bad.apply(t, bad)
			c.acceptable.apply(t, good)
			for form, open := range map[string]func(fstest.MapFS) error{ // order: each form is checked alone
				"memory":    func(m fstest.MapFS) error { _, err := Open(m); return err },
				"directory": func(m fstest.MapFS) error { _, err := Open(onDisk(t, m)); return err },
				"overlay":   func(m fstest.MapFS) error { _, err := Open(tiny(), m); return err },
			} {
				if err := open(bad); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: got %v, want an error with %q", form, err, c.want)
				}
				if err := open(good); err != nil {
					t.Errorf("%s: the closest good catalog: %v", form, err)
				}
			}
		})
	}
}

// onDisk writes m below a temporary directory, links last and as links.
func onDisk(t *testing.T, m fstest.MapFS) fs.FS {
	t.Helper()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	names := slices.Sorted(maps.Keys(m))
	for _, name := range names {
		if m[name].Mode&fs.ModeSymlink == 0 {
			must(os.MkdirAll(filepath.Dir(at(name)), 0o755))
			must(os.WriteFile(at(name), m[name].Data, 0o644))
		}
	}
	for _, name := range names {
		if m[name].Mode&fs.ModeSymlink != 0 {
			must(os.RemoveAll(at(name)))
			must(os.MkdirAll(filepath.Dir(at(name)), 0o755))
			must(os.Symlink(string(m[name].Data), at(name)))
		}
	}
	return os.DirFS(dir)
}

func TestEmptyDirectoryIsRefused(t *testing.T) {
	if _, err := Open(fstest.MapFS{"README": {}}); err == nil || !strings.Contains(err.Error(), "holds no catalog entry") {
		t.Errorf("got %v, want a refusal", err)
	}
}
