package invariants

import (
	"bytes"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"gopkg.in/yaml.v3"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/registry"
	"github.com/inference-sim/accuracy-dashboard/registry/acceptance"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// loaders are the readers of documents, each with one that it accepts.
func loaders(t *testing.T) map[string]struct {
	doc  []byte
	load func([]byte) error
} {
	read := func(p string) []byte {
		b, err := os.ReadFile("../" + p)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	within := func(root fs.FS, p string, open func(fs.FS) error) func([]byte) error {
		files := fstest.MapFS{}
		err := fs.WalkDir(root, ".", func(q string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !strings.HasPrefix(q, "models/") {
				data, err := fs.ReadFile(root, q)
				files[q] = &fstest.MapFile{Data: data}
				return err
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return func(b []byte) error { files[p] = &fstest.MapFile{Data: b}; return open(files) }
	}
	const chip, set = "hardware/h100_sxm.yaml", "h100_sxm/gemm.yaml"
	type loader = struct {
		doc  []byte
		load func([]byte) error
	}
	return map[string]loader{
		"a chip": {read("catalog/data/" + chip), within(catalog.EmbeddedFS(), chip, func(f fs.FS) error { _, err := catalog.Open(f); return err })},
		"a coefficient set": {read("registry/data/" + set), func(b []byte) error {
			_, err := registry.Open(fstest.MapFS{set: {Data: b}})
			return err
		}},
		"a scenario":          {read("sim/testdata/gate/closed/scenario.yaml"), func(b []byte) error { _, err := spec.Parse("s", b); return err }},
		"acceptance profiles": {read("registry/acceptance/profiles.yaml"), func(b []byte) error { _, err := acceptance.Parse("a", b); return err }},
	}
}

// TestEveryLoaderRefusesWhatIsMalformed keeps SUB-12 and SUB-2. For each field of a
// document that a loader accepts it makes an example of each way to be wrong.
func TestEveryLoaderRefusesWhatIsMalformed(t *testing.T) {
	keep.Rule(t, "SUB-2", "SUB-12")
	for name, l := range loaders(t) {
		if err := l.load(l.doc); err != nil {
			t.Errorf("%s: refused whole: %v", name, err)
			continue
		}
		n := 0
		for path, wrong := range malformed(t, l.doc) {
			n++
			if err := l.load(wrong); err == nil {
				t.Errorf("%s: accepted with %s", name, path)
			}
		}
		if n < 10 {
			t.Errorf("%s: only %d malformed documents were made", name, n)
		}
	}
}

// malformed makes one document for each field of doc and way to spoil it.
func malformed(t *testing.T, doc []byte) map[string][]byte {
	t.Helper()
	var root yaml.Node
	if err := yaml.Unmarshal(doc, &root); err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	spoil := func(path string, n *yaml.Node, as yaml.Node) {
		if out[path] != nil {
			return
		}
		whole := *n
		*n = as
		b, err := yaml.Marshal(&root)
		*n = whole
		if err != nil {
			t.Fatal(err)
		}
		out[path] = b
	}
	scalar := func(v string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: v} }
	var visit func(path string, n *yaml.Node)
	visit = func(path string, n *yaml.Node) {
		if path == ".engine.args" { // carried as written to the engine, which judges it
			return
		}
		switch n.Kind {
		case yaml.MappingNode:
			more := func(k, v *yaml.Node) yaml.Node {
				m := *n
				m.Content = append(append([]*yaml.Node{}, n.Content...), k, v)
				return m
			}
			spoil(path+": an unknown key", n, more(scalar("surprise"), scalar("1")))
			if len(n.Content) > 0 {
				spoil(path+": a repeated key", n, more(n.Content[0], n.Content[1]))
			}
			for i := 0; i+1 < len(n.Content); i += 2 {
				visit(path+"."+n.Content[i].Value, n.Content[i+1])
			}
		case yaml.SequenceNode:
			for _, c := range n.Content {
				visit(path, c)
			}
		case yaml.DocumentNode:
			visit(path, n.Content[0])
		case yaml.ScalarNode:
			spoil(path+": a mapping", n, yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{scalar("surprise"), scalar("1")}})
			if n.Tag == "!!int" || n.Tag == "!!float" {
				spoil(path+": no number", n, yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: ".nan"})
				spoil(path+": a word", n, yaml.Node{Kind: yaml.ScalarNode, Value: "many"})
			}
		}
	}
	visit("", &root)
	return out
}

// TestListsAreReadStrictly keeps SUB-12 for the documents that are JSON.
func TestListsAreReadStrictly(t *testing.T) {
	keep.Rule(t, "SUB-12")
	for name, load := range map[string]func([]byte) error{
		"engines/vllm/fields.json":    func(b []byte) error { _, err := fields.Parse("f", b); return err },
		"engines/sglang/fields.json":  func(b []byte) error { _, err := fields.Parse("f", b); return err },
		"engines/vllm/surface.json":   func(b []byte) error { _, err := fields.ParseSurface("f", b); return err },
		"engines/sglang/surface.json": func(b []byte) error { _, err := fields.ParseSurface("f", b); return err },
	} {
		whole, err := os.ReadFile("../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := load(whole); err != nil {
			t.Errorf("%s: refused whole: %v", name, err)
		}
		for what, wrong := range map[string][]byte{
			"an unknown key":      bytes.Replace(whole, []byte(`"name"`), []byte(`"surprise":1,"name"`), 1),
			"a repeated key":      bytes.Replace(whole, []byte(`"engine"`), []byte(`"engine":"x","engine"`), 1),
			"another type":        bytes.Replace(whole, []byte(`"name":`), []byte(`"name":1,"x":`), 1),
			"more after it":       append(bytes.Clone(whole), '{', '}'),
			"half of it":          whole[:len(whole)/2],
			"nothing":             nil,
			"a status of its own": bytes.Replace(whole, []byte(`"modelled"`), []byte(`"perhaps"`), 1),
		} {
			if err := load(wrong); err == nil {
				t.Errorf("%s: accepted with %s", name, what)
			}
		}
	}
}
