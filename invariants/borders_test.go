package invariants

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// words calls visit with every identifier and string of f, comments left out.
func words(f *GoFile, visit func(pos token.Pos, word string)) {
	ast.Inspect(f.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Ident:
			visit(n.Pos(), n.Name)
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
				visit(n.Pos(), text)
			}
		}
		return true
	})
}

var engineWord = regexp.MustCompile(`(?i)vllm|sglang|trt-?llm`)

// TestPricesNameNoEngine keeps X2. The writers of registry/fit may name the engine
// under which a table was measured: it is the source's own name.
func TestPricesNameNoEngine(t *testing.T) {
	keep.Rule(t, "SUB-6", "T-B2")
	rule := func(m *Module) (out []Finding) {
		for _, f := range m.Go {
			if f.Test() || !f.Below("cost", "catalog", "registry") || f.Below("registry/fit", "catalog/graph") {
				continue
			}
			words(f, func(pos token.Pos, word string) {
				if engineWord.MatchString(word) {
					out = append(out, Finding{f.At(pos), fmt.Sprintf("prices know no engine, but %q names one (X2)", word), "let the engine put what is meant into its plan"})
				}
			})
		}
		return out
	}
	hold(t, rule,
		bad{"a string", files{"cost/a.go": "package cost\nvar v = \"vllm-csrc\"\n"}, "cost/a.go:2"},
		bad{"an identifier", files{"registry/a.go": "package registry\nvar SGLangPad = 1\n"}, "SGLangPad"},
		bad{"a comment", files{"cost/a.go": "package cost // as vLLM\n"}, ""},
		bad{"a test", files{"cost/a_test.go": "package cost\nvar v = \"vllm\"\n"}, ""})
}

// settingNames are the names of more than one word in the engines' field lists, as they
// are written in an argument; the upstreams take - and _ alike.
func settingNames(m *Module) map[string]bool {
	out := map[string]bool{}
	for p, text := range m.Files {
		if !strings.HasPrefix(p, "engines/") || path.Base(p) != "fields.json" {
			continue
		}
		for _, f := range fieldName.FindAllSubmatch(text, -1) {
			if name := dashed(string(f[1])); strings.Contains(name, "-") {
				out[name] = true
			}
		}
	}
	return out
}

var fieldName = regexp.MustCompile(`"name": ?"([^"]+)"`)

func dashed(name string) string { return strings.ReplaceAll(name, "_", "-") }

// TestPricesKnowNoSetting keeps X2: no text of the catalog's, the registry's or the cost
// model's code is the name of an engine's setting, by the engines' own lists.
func TestPricesKnowNoSetting(t *testing.T) {
	keep.Rule(t, "X2")
	rule := func(m *Module) (out []Finding) {
		names := settingNames(m)
		for _, f := range m.Go {
			if f.Test() || !f.Below("cost", "catalog", "registry") || f.Below("registry/fit", "catalog/graph") { // these read files of others, in their words
				continue
			}
			ast.Inspect(f.File, func(n ast.Node) bool {
				if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
					if text := dashed(strings.Trim(l.Value, "`\"")); names[text] {
						out = append(out, Finding{f.At(l.Pos()), fmt.Sprintf("prices know no engine, but %s is a setting of one (X2)", l.Value), "let the engine put what is meant into its plan"})
					}
				}
				return true
			})
		}
		return out
	}
	m, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(settingNames(m)); n < 1000 {
		t.Errorf("the field lists name %d settings of more than one word, want those of every engine", n)
	}
	const list = `{"fields": [{"name": "stream-interval", "kind": "argument"}, {"name": "seed"}]}`
	hold(t, rule,
		bad{"a setting", files{"engines/e/fields.json": list, "cost/a.go": "package cost\nvar v = \"stream_interval\"\n"}, "cost/a.go:2"},
		bad{"a word", files{"engines/e/fields.json": list, "cost/a.go": "package cost\nvar v = \"seed\"\n"}, ""},
		bad{"a part of a text", files{"engines/e/fields.json": list, "cost/a.go": "package cost\nvar v = \"a stream_interval\"\n"}, ""},
		bad{"an engine", files{"engines/e/fields.json": list, "engines/e/a.go": "package e\nvar v = \"stream_interval\"\n"}, ""})
}

// TestOneBuildSite keeps X3: engines meet the simulator in engines/builtin alone.
func TestOneBuildSite(t *testing.T) {
	rule := func(m *Module) (out []Finding) {
		for _, f := range m.Go {
			if f.Test() || f.Below("engines", "docgen", "internal/mutate") || path.Base(f.Dir()) == "oracle" {
				continue
			}
			for _, im := range f.Imports {
				p := strings.Trim(im.Path.Value, `"`)
				if engineWord.MatchString(p) && !strings.HasSuffix(p, "/oracle") {
					out = append(out, Finding{f.At(im.Pos()), "imports an engine port (X3)", "take the engines.Kind that engines/builtin made"})
				}
			}
		}
		return out
	}
	hold(t, rule,
		bad{"the simulator", files{"sim/a.go": "package sim\nimport _ \"m/engines/vllm\"\n"}, "sim/a.go:2: imports an engine port"},
		bad{"the build site", files{"engines/builtin/a.go": "package builtin\nimport _ \"m/engines/vllm\"\n"}, ""})
}

// TestRuntimeOpensNoModelConfiguration keeps SUB-3; the catalog's loader names such a
// file to pass it over.
func TestRuntimeOpensNoModelConfiguration(t *testing.T) {
	rule := func(m *Module) (out []Finding) {
		for _, f := range m.Go {
			if f.Test() || !f.Below("cost", "engines", "sim", "harness", "scorer", "registry", "catalog") || f.Below("catalog/graph", "registry/fit") || f.Path == "catalog/files.go" {
				continue
			}
			words(f, func(pos token.Pos, word string) {
				if strings.HasSuffix(word, "config.json") || strings.HasSuffix(word, ".safetensors") {
					out = append(out, Finding{f.At(pos), "reads a checkpoint's own file at run time (SUB-3)", "derive the value into graph.yaml (catalog/graph)"})
				}
			})
		}
		return out
	}
	hold(t, rule,
		bad{"the cost model", files{"cost/a.go": "package cost\nvar f = \"x/config.json\"\n"}, "cost/a.go:2"},
		bad{"the deriver", files{"catalog/graph/a.go": "package graph\nvar f = \"x/config.json\"\n"}, ""})
}

// TestOnlyMainsExit keeps SIM-2: a library returns errors.
func TestOnlyMainsExit(t *testing.T) {
	ends := []string{"os.Exit", "log.Fatal", "log.Fatalf", "log.Fatalln", "runtime.Goexit"}
	library := func(f *GoFile) bool { return !f.Test() && f.Name.Name != "main" }
	rule := each(library, func(_ *GoFile, n ast.Node, add finder) {
		if slices.Contains(ends, qualified(n)) {
			add(qualified(n)+" in a library (SIM-2)", "return an error; the main exits")
		}
	})
	hold(t, rule,
		bad{"a library", files{"sim/a.go": "package sim\nimport \"os\"\nfunc f() { os.Exit(1) }\n"}, "sim/a.go:3: os.Exit in a library"},
		bad{"a main", files{"cmd/a/a.go": "package main\nimport \"os\"\nfunc main() { os.Exit(1) }\n"}, ""})
}

// lengthSites are where DEV-13 lets the sampled output length be: the generator that
// writes it, the trace that records it, the hand-over to an engine, its stop check, done
// ahead for a steady batch, and the recordings' players.
var lengthSites = map[string][]string{
	"Length": {"sim/workload", "sim/request.go"},
	"StopAt": {"sim/request.go", "engines/enginetest", "engines/vllm/adapter_job.go", "engines/vllm/sched/update.go", "engines/vllm/sched/cruise.go",
		"engines/vllm/oracle", "engines/sglang/engine.go", "engines/sglang/sched/request.go", "engines/sglang/sched/steady.go", "engines/sglang/oracle"},
}

// TestOutputLengthIsReadWhereDeclared keeps DEV-13.
func TestOutputLengthIsReadWhereDeclared(t *testing.T) {
	rule := each(shipped("sim", "engines", "harness"), func(f *GoFile, n ast.Node, add finder) {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || strings.HasPrefix(qualified(n), "engines.") || strings.HasPrefix(qualified(n), "sched.") {
			return // the constant of a finish reason is no length
		}
		sites, watched := lengthSites[sel.Sel.Name]
		if watched && !slices.ContainsFunc(sites, func(s string) bool { return s == f.Path || within(f.Dir(), s) }) {
			add("reads the sampled output length (DEV-13)", "use MaxTokens and what was emitted; a new stop check is declared in lengthSites")
		}
	})
	hold(t, rule,
		bad{"a scheduler", files{"engines/vllm/sched/schedule.go": "package sched\nfunc f(r *R) int { return r.StopAt }\n"}, "reads the sampled output length"},
		bad{"the stop check", files{"engines/vllm/sched/update.go": "package sched\nfunc f(r *R) int { return r.StopAt }\n"}, ""})
}

// TestNoCoefficientIsOfOneModel keeps VAL-7 and the coefficient scope of X2.
func TestNoCoefficientIsOfOneModel(t *testing.T) {
	scope := regexp.MustCompile(`(?m)^\s*(?:- )?(model|engine):`)
	rule := func(m *Module) (out []Finding) {
		for _, p := range sortedKeys(m.Files) {
			if strings.HasPrefix(p, "registry/data/") && path.Ext(p) == ".yaml" && scope.Match(m.Files[p]) {
				out = append(out, Finding{p, "scopes a coefficient to one model or engine (VAL-7)", "name the missing form, and key the value by what causes it"})
			}
		}
		return out
	}
	hold(t, rule,
		bad{"a model", files{"registry/data/h100/a.yaml": "entries:\n  - model: llama\n"}, "scopes a coefficient"},
		bad{"a kernel", files{"registry/data/h100/a.yaml": "entries:\n  - kernel: nccl/ring\n"}, ""})
}

// TestNoKnownOvercharge keeps VAL-11: an error that is known is a defect, not a comment.
func TestNoKnownOvercharge(t *testing.T) {
	known := regexp.MustCompile(`(?i)\b(over|under)-?charg(e|es|ed|ing)\b|to cancel (the|an) error|fudge`)
	rule := func(m *Module) (out []Finding) {
		for _, f := range m.Go {
			if !f.Below("cost", "registry") {
				continue
			}
			for _, g := range f.Comments {
				if w := known.FindString(g.Text()); w != "" {
					out = append(out, Finding{f.At(g.Pos()), fmt.Sprintf("a comment admits an error: %q (VAL-11)", w), "correct the term, or refuse what it cannot price"})
				}
			}
		}
		return out
	}
	hold(t, rule,
		bad{"an offset", files{"cost/a.go": "package cost\n\n// We overcharge here to cancel the error of attention.\n"}, "a comment admits an error"},
		bad{"a reason", files{"cost/a.go": "package cost\n\n// Host time is priced apart.\n"}, ""})
}
