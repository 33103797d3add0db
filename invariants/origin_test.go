package invariants

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"go/ast"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// TestNoThirdPartyFiles keeps X12 and D6: what others published stays with them.
func TestNoThirdPartyFiles(t *testing.T) {
	keep.Rule(t, "D6")
	names := regexp.MustCompile(`(^|/)(config|tokenizer|generation_config|tokenizer_config)\.json$|\.(safetensors|parquet|onnx|whl|min\.js|so|dll|exe|zip|tgz)$`)
	rule := func(m *Module) (out []Finding) {
		for _, p := range sortedKeys(m.Files) {
			if names.MatchString(p) && !strings.HasPrefix(p, "site/hugo/") {
				out = append(out, Finding{p, "is a third party's file (X12)", "commit what is derived from it, with source, revision and hash"})
			}
		}
		return out
	}
	hold(t, rule,
		bad{"a model's configuration", files{"catalog/data/models/a/config.json": "{}"}, "is a third party's file"},
		bad{"a derived graph", files{"catalog/data/models/a/graph.yaml": "{}"}, ""})
}

// TestSourcesArePinned keeps D3 for what a person writes; the ledger's loader compares
// its files with their hashes.
func TestSourcesArePinned(t *testing.T) {
	keep.Rule(t, "D3")
	revision := regexp.MustCompile(`\brevision: *["']?([^"',}\s]+)`)
	pinned := regexp.MustCompile(`^([0-9a-f]{8,64}|\d{6,})$`)
	rule := func(m *Module) (out []Finding) {
		for _, p := range sortedKeys(m.Files) {
			if path.Ext(p) != ".yaml" || strings.HasPrefix(p, "invariants/") {
				continue
			}
			for _, r := range revision.FindAllSubmatch(m.Files[p], -1) {
				if !pinned.Match(r[1]) {
					out = append(out, Finding{p, fmt.Sprintf("has the revision %q, which can move (D3)", r[1]), "write a commit, a hash or the number of a run"})
				}
			}
		}
		return out
	}
	hold(t, rule,
		bad{"a branch", files{"catalog/data/sources/a.yaml": "revision: main\n"}, `has the revision "main"`},
		bad{"a word", files{"catalog/data/models/a/graph.yaml": "derived_from: {revision: latest, path: p}\n"}, `has the revision "latest"`},
		bad{"a tag", files{"ledger/data/a.yaml": "revision: \"v1.2\"\n"}, `has the revision "v1.2"`},
		bad{"a commit", files{"catalog/data/sources/a.yaml": "revision: f90a1e3a\n"}, ""},
		bad{"a run", files{"ledger/data/a.yaml": "revision: 17203344551\n"}, ""})
}

// TestNoMachinePaths keeps X25: nothing names a place outside the module.
func TestNoMachinePaths(t *testing.T) {
	keep.Rule(t, "X12")
	place := regexp.MustCompile(`/(?:home|Users|work|root|mnt)/[a-z]\w*|[A-Z]:\\\\Users`)
	upstreams := func(p string) bool { // whose defaults are data
		return strings.HasPrefix(p, "content/generated/fields-") || strings.HasPrefix(p, "engines/") && path.Ext(p) == ".json"
	}
	rule := eachLine(func(p string) bool { return p != "invariants/origin_test.go" && !upstreams(p) }, func(line string, add finder) {
		if w := place.FindString(line); w != "" {
			add(fmt.Sprintf("names a place on one machine, %q (X25)", w), "take the path from a flag, or use testdata")
		}
	})
	hold(t, rule,
		bad{"a home", files{"a/a.go": "package a\nvar p = \"/home/jo/data\"\n"}, "a/a.go:2"},
		bad{"a URL", files{"README.md": "https://example.com/homepage/x\n"}, ""})
}

// TestNoScriptsBesideGo keeps X15 and X19: one language, so a rule has one place.
func TestNoScriptsBesideGo(t *testing.T) {
	keep.Rule(t, "X19")
	rule := func(m *Module) (out []Finding) {
		for _, p := range sortedKeys(m.Files) {
			if slices.Contains([]string{".py", ".sh", ".rb", ".pl", ".ipynb"}, path.Ext(p)) {
				out = append(out, Finding{p, "is a script beside the Go module (X15)", "make it a command of cmd/blis"})
			}
		}
		return out
	}
	hold(t, rule, bad{"a script", files{"registry/fit.py": ""}, "is a script"}, bad{"a program", files{"cmd/a/a.go": "package main"}, ""})
}

// TestLicenceFiles keeps the last part of X21.
func TestLicenceFiles(t *testing.T) {
	want := map[string]string{"LICENSE": "Apache License", "NOTICE": "vllm-project/vllm", "CITATION.cff": "cff-version"}
	rule := func(m *Module) (out []Finding) {
		for _, p := range sortedKeys(want) {
			if !bytes.Contains(m.Files[p], []byte(want[p])) {
				out = append(out, Finding{p, fmt.Sprintf("is missing, or does not say %q (X21)", want[p]), ""})
			}
		}
		return out
	}
	hold(t, rule, bad{"no notice", files{"LICENSE": "Apache License", "CITATION.cff": "cff-version"}, "NOTICE: is missing"})
}

// ports are the engine ports and the repository each one follows.
var ports = map[string]string{"engines/vllm": "vllm-project/vllm", "engines/sglang": "sgl-project/sglang"}

// TestPortsStateTheirUpstream keeps VLM-2, SGL-2, LIF-5 and T-E2: every package of a
// port cites its upstream at the commit of the port's Upstream record, and no other;
// every file names the upstream files it follows, or says that it is the project's own.
func TestPortsStateTheirUpstream(t *testing.T) {
	keep.Rule(t, "LIF-5", "SGL-2", "T-E2", "VLM-2", "X21")
	rule := func(m *Module) (out []Finding) {
		for _, port := range sortedKeys(ports) {
			out = append(out, portCites(m, port, ports[port])...)
		}
		return out
	}
	const kind = "// Package vllm follows vllm-project/vllm@aaaaaaaa a.py.\npackage vllm\nfunc (k) Upstream() U { return U{Commit: \"aaaaaaaabbbb\"} }\n"
	hold(t, rule,
		bad{"whole", files{"engines/vllm/kind.go": kind}, ""},
		bad{"no citation", files{"engines/vllm/kind.go": kind, "engines/vllm/kv/a.go": "// Package kv caches.\npackage kv\n"}, "engines/vllm/kv: cites no upstream file"},
		bad{"no upstream file", files{"engines/vllm/kind.go": kind, "engines/vllm/a.go": "package vllm\n\n// F is what a.b says.\nfunc F() {}\n"}, "engines/vllm/a.go: names no upstream file"},
		bad{"a file of its own", files{"engines/vllm/kind.go": kind, "engines/vllm/a.go": "package vllm\n\n// This file is the project's own.\n"}, ""},
		bad{"another commit", files{"engines/vllm/kind.go": strings.Replace(kind, "vllm@aaaaaaaa", "vllm@cccccccc", 1)}, "cites cccccccc, the port models aaaaaaaabbbb"},
		bad{"another commit in words", files{"engines/vllm/kind.go": kind, "engines/vllm/a.go": "package vllm\n\n// F follows a.py at\n// cccccccc.\nfunc F() {}\n"}, "cites cccccccc"},
		bad{"another commit's address", files{"engines/vllm/kind.go": kind, "engines/vllm/a.go": "package vllm\n\n// F is vllm-project/vllm/blob/1bda0b16aa/vllm/v1/kv.py, as release 0.9 did.\nfunc F() {}\n"}, "cites 1bda0b16aa"},
		bad{"another commit of the repository", files{"engines/vllm/kind.go": kind, "engines/vllm/a.go": "package vllm\n\n// F is kv.py of vllm-project/vllm commit 12345678.\nfunc F() {}\n"}, "cites 12345678"},
		bad{"another commit alone", files{"engines/vllm/kind.go": kind, "engines/vllm/a.go": "package vllm\n\n// F is kv.py (1bda0b16aa).\nfunc F() {}\n"}, "cites 1bda0b16aa"},
		bad{"another project", files{"engines/vllm/kind.go": kind, "engines/vllm/a.go": "package vllm\n\n// F is kv.py, named as in other/tables@1bda0b16aa.\nfunc F() { f(12345678, 0x1bda0b16aa) }\n"}, ""},
		bad{"no record", files{"engines/vllm/a.go": "package vllm\n"}, "has no Upstream record"})
}

// follows is how a comment names an upstream file, or says that there is none.
var follows = regexp.MustCompile(`\w\.(py|cuh?|h|rs)\b|This file is the project's own`)

func portCites(m *Module, port, repository string) (out []Finding) {
	var commit string
	cited := map[string]bool{}
	var packages []string
	for _, f := range m.Go {
		if f.Test() || !f.Below(port) {
			continue
		}
		packages = append(packages, f.Dir())
		commit += upstreamCommit(f)
	}
	if commit == "" && packages != nil {
		return []Finding{{port, "has no Upstream record with a commit (LIF-5)", "state repository and commit where the engine kind is registered"}}
	}
	for _, f := range m.Go {
		if f.Test() || !f.Below(port) {
			continue
		}
		if !slices.ContainsFunc(f.Comments, func(g *ast.CommentGroup) bool { return follows.MatchString(g.Text()) }) {
			out = append(out, Finding{f.Path, "names no upstream file (VLM-2, SGL-2)", "name the files it follows, or write: This file is the project's own"})
		}
		for _, c := range commitsCited(m.Files[f.Path], path.Base(repository)) {
			cited[f.Dir()] = true
			if !strings.HasPrefix(commit, c) {
				out = append(out, Finding{f.Path, fmt.Sprintf("cites %s, the port models %s (LIF-5)", c, commit), "port the function again at the modelled commit"})
			}
		}
	}
	slices.Sort(packages)
	for _, p := range slices.Compact(packages) {
		if !cited[p] && path.Base(p) != "oracle" {
			out = append(out, Finding{p, "cites no upstream file at the modelled commit (VLM-2, SGL-2)", "name the files it follows in the package comment, or say it is the project's own"})
		}
	}
	return out
}

// commitLike is a word that can be a commit, with what stands before it.
var commitLike = regexp.MustCompile(`(?:([\w.-]+)(?:@|/(?:blob|tree|raw|commits?)/)|\b(at|commit)\s+(?:// )?)?\b([0-9a-f]{8,40})\b`)

// commitsCited are the commits in src, short or whole, but for those of a named repository
// that is not ours. A word of digits alone is one only after a repository, "at" or "commit".
func commitsCited(src []byte, repository string) (out []string) {
	for _, c := range commitLike.FindAllSubmatch(src, -1) {
		of, after, commit := string(c[1]), string(c[2]), string(c[3])
		mixed := strings.ContainsAny(commit, "abcdef") && strings.ContainsAny(commit, "0123456789")
		if of == repository || of == "" && (after != "" || mixed) {
			out = append(out, commit)
		}
	}
	return out
}

// upstreamCommit is the commit stated in f's composite literal with a Commit field.
func upstreamCommit(f *GoFile) (commit string) {
	ast.Inspect(f.File, func(n ast.Node) bool {
		if kv, ok := n.(*ast.KeyValueExpr); ok {
			if k, ok := kv.Key.(*ast.Ident); ok && k.Name == "Commit" {
				if v, ok := kv.Value.(*ast.BasicLit); ok {
					commit = strings.Trim(v.Value, `"`)
				}
			}
		}
		return true
	})
	return commit
}

// TestRecordedTracesNameTheirOrigin keeps FID-2: each recording carries the commit of
// the port's Upstream record.
func TestRecordedTracesNameTheirOrigin(t *testing.T) {
	m, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	for port := range ports {
		commit := ""
		for _, f := range m.Go {
			if f.Dir() == port && !f.Test() {
				commit += upstreamCommit(f)
			}
		}
		traces, err := filepath.Glob(filepath.Join("..", port, "testdata", "oracle", "*.json*"))
		if err != nil || len(traces) < 50 {
			t.Fatalf("%s: got %d traces, %v, want at least 50 (X22)", port, len(traces), err)
		}
		for _, p := range traces {
			data, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			if err := namesOrigin(data, commit); err != nil {
				t.Errorf("%s: %v (FID-2)", p, err)
			}
		}
	}
	for _, doc := range []string{`{"provenance":{}}`, `{"provenance":{"commit":"bbbb"}}`, `{}`} {
		if namesOrigin([]byte(doc), "aaaa") == nil {
			t.Errorf("%s: a recording of another commit passed", doc)
		}
	}
}

// plainText is a recording without its compression.
func plainText(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

func namesOrigin(data []byte, commit string) error {
	data, err := plainText(data)
	if err != nil {
		return err
	}
	var doc struct {
		Provenance struct {
			Commit string `json:"commit"`
		} `json:"provenance"`
		Engine struct {
			Commit string `json:"commit"`
		} `json:"engine"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return err
	}
	if got := doc.Provenance.Commit + doc.Engine.Commit; got != commit {
		return fmt.Errorf("recorded at %q, the port models %q", got, commit)
	}
	return nil
}

// TestNothingWritesRecordedTraces keeps FID-3: no program of the module can write a
// recording, so an update flag cannot reach one.
func TestNothingWritesRecordedTraces(t *testing.T) {
	near := func(f *GoFile) bool { return f.Below("engines", "internal/replay", "internal/mutate") }
	rule := each(near, func(_ *GoFile, n ast.Node, add finder) {
		if c, ok := n.(*ast.CallExpr); ok && slices.Contains([]string{"os.WriteFile", "os.Create", "os.OpenFile", "os.Rename"}, qualified(c.Fun)) && !mentions(c, "TempDir") {
			add("can write a file beside the recorded traces (FID-3)", "write below t.TempDir()")
		}
	})
	hold(t, rule,
		bad{"an update", files{"engines/vllm/oracle/a_test.go": "package oracle\nimport \"os\"\nfunc f() { os.WriteFile(p, b, 0) }\n"}, "a_test.go:3: can write"},
		bad{"a reader", files{"engines/vllm/oracle/a_test.go": "package oracle\nimport \"os\"\nfunc f() { os.ReadFile(p) }\n"}, ""})
}

// TestSurfaceItemsNameTheirEvidence keeps X9: a test named as evidence exists.
func TestSurfaceItemsNameTheirEvidence(t *testing.T) {
	keep.Rule(t, "FID-5", "SGL-4", "T-N2", "X28")
	named := regexp.MustCompile(`\bTest[A-Z]\w+\*?`)
	rule := func(m *Module) (out []Finding) {
		var have []string
		for name := range tests(m) {
			_, fn, _ := strings.Cut(name, ".")
			have = append(have, fn)
		}
		exists := func(test string) bool {
			prefix, many := strings.CutSuffix(test, "*")
			return slices.ContainsFunc(have, func(h string) bool { return h == test || many && strings.HasPrefix(h, prefix) })
		}
		for _, p := range sortedKeys(m.Files) {
			if !strings.HasPrefix(p, "engines/") || !slices.Contains([]string{"surface.json", "fields.json"}, path.Base(p)) {
				continue
			}
			missing := map[string]bool{}
			for _, test := range named.FindAll(m.Files[p], -1) {
				missing[string(test)] = !exists(string(test))
			}
			for _, test := range sortedKeys(missing) {
				if missing[test] {
					out = append(out, Finding{p, "names " + test + " as evidence, which does not exist (X9)", "name a test of the port, or change the status"})
				}
			}
		}
		return out
	}
	hold(t, rule,
		bad{"a missing test", files{"engines/a/surface.json": `{"evidence":"TestGone"}`}, "names TestGone"},
		bad{"a test", files{"engines/a/surface.json": `{"evidence":"TestThere"}`, "engines/a/a_test.go": "package a\nfunc TestThere(t *T) {}\n"}, ""})
}
