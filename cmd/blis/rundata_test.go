package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/registry"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/spf13/pflag"
)

// resultOf is the Result of the chat scenario, and the bytes it is printed in.
func resultOf(t *testing.T, dir string, args ...string) (*spec.Result, string) {
	t.Helper()
	code, out, complaint := blisIn(t, dir, append([]string{"run", "s.yaml"}, args...)...)
	if code != 0 {
		t.Fatalf("%v: %s", args, complaint)
	}
	r := new(spec.Result)
	if err := json.Unmarshal([]byte(out), r); err != nil {
		t.Fatal(err)
	}
	return r, out
}

// copied is a directory with what root holds, after edit changed its one file name.
func copied(t *testing.T, root fs.FS, name string, edit func(string) string, only bool) string {
	t.Helper()
	dir := t.TempDir()
	if !only {
		if err := os.CopyFS(dir, root); err != nil {
			t.Fatal(err)
		}
	}
	data, err := fs.ReadFile(root, name)
	if err != nil {
		t.Fatal(err)
	}
	p := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(edit(string(data))), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

const (
	coefficients = "h100_sxm/host.yaml"
	chipFile     = "hardware/h100_sxm.yaml"
)

var ofTime = regexp.MustCompile(`(?m)^    value: .*\n    unit: s$`)

func slower(text string) string   { return ofTime.ReplaceAllString(text, "    value: 0.01\n    unit: s") }
func narrower(text string) string { return strings.Replace(text, "value: 3.35", "value: 3.0", 1) }

// TestAPathReplacesAndAnOverlayAdds keeps SIM-6 in each of its cases, by what the Result
// says it was made from and by whether the data had a say.
func TestAPathReplacesAndAnOverlayAdds(t *testing.T) {
	keep.Rule(t, "SIM-6", "SIM-10")
	dir := withFiles(t, map[string]string{"s.yaml": chatScenario})
	whole := copied(t, catalog.EmbeddedFS(), chipFile, func(s string) string { return s }, false)
	narrow := copied(t, catalog.EmbeddedFS(), chipFile, narrower, false)
	over := copied(t, catalog.EmbeddedFS(), chipFile, narrower, true)
	figures := func(r *spec.Result) string { b, _ := json.Marshal(r.Figures); return string(b) }
	plain, _ := resultOf(t, dir)
	for _, c := range []struct {
		name     string
		args     []string
		origin   string
		overlays int
		differs  bool
	}{
		{"an equal path", []string{"--catalog", whole}, whole, 0, false},
		{"a path", []string{"--catalog", narrow}, narrow, 0, true},
		{"an overlay", []string{"--catalog-overlay", over}, "embedded", 1, true},
		{"an overlay of a path", []string{"--catalog", whole, "--catalog-overlay", over}, whole, 1, true},
	} {
		r, _ := resultOf(t, dir, c.args...)
		s := r.Inputs.Data[slices.IndexFunc(r.Inputs.Data, func(s spec.Source) bool { return s.Kind == "catalog" })]
		if s.Origin != c.origin || len(s.Overlays) != c.overlays {
			t.Errorf("%s: the Result says %s with %d overlays, want %s with %d", c.name, s.Origin, len(s.Overlays), c.origin, c.overlays)
		}
		if (figures(r) != figures(plain)) != c.differs {
			t.Errorf("%s: figures differ from the embedded data's: %v, want %v", c.name, !c.differs, c.differs)
		}
	}
	if code, _, complaint := blisIn(t, dir, "run", "s.yaml", "--catalog", over); code == 0 || !strings.Contains(complaint, "catalog") {
		t.Errorf("a path that holds one file is no overlay: got %d, %q", code, complaint)
	}
}

// TestEveryOptionOfARunIsRecordedOrChangesNothing keeps SIM-10: an option either stands
// in the Result's inputs or leaves every byte of it alone. A new option must be tried.
func TestEveryOptionOfARunIsRecordedOrChangesNothing(t *testing.T) {
	keep.Rule(t, "SIM-10")
	dir := withFiles(t, map[string]string{"s.yaml": chatScenario})
	tried := map[string]string{
		"catalog":          copied(t, catalog.EmbeddedFS(), chipFile, narrower, false),
		"catalog-overlay":  copied(t, catalog.EmbeddedFS(), chipFile, narrower, true),
		"registry":         copied(t, registry.EmbeddedFS(), coefficients, slower, false),
		"registry-overlay": copied(t, registry.EmbeddedFS(), coefficients, slower, true),
		"timeline":         filepath.Join(dir, "t.json"), "plot": filepath.Join(dir, "p.svg"), "watch": "true",
		"exact-acceptance": "true",
	}
	plain, text := resultOf(t, dir)
	inputs := func(r *spec.Result) string { b, _ := json.Marshal(r.Inputs); return string(b) }
	runCmd().Flags().VisitAll(func(f *pflag.Flag) {
		value, ok := tried[f.Name]
		if !ok {
			t.Errorf("--%s is tried with no value", f.Name)
			return
		}
		if r, out := resultOf(t, dir, "--"+f.Name+"="+value); out != text && inputs(r) == inputs(plain) {
			t.Errorf("--%s changes the Result and is not in its inputs", f.Name)
		}
	})
}

// TestAModelIsACatalogEntry keeps T-M1: a model that no program knows runs from files
// laid over the catalog, on every engine, as the one it was copied from does.
func TestAModelIsACatalogEntry(t *testing.T) {
	keep.Rule(t, "T-M1")
	const known, unknown = "llama-3.1-8b", "alpaca-9"
	renamed := func(s string) string {
		return strings.NewReplacer(known, unknown, "meta-llama/", "alpaca/", "Llama 3.1", "Alpaca").Replace(s)
	}
	over := t.TempDir()
	for _, file := range []string{"model.yaml", "graph.yaml"} {
		data, err := fs.ReadFile(catalog.EmbeddedFS(), "models/"+known+"/"+file)
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(over, "models", unknown, file)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(renamed(string(data))), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, engine := range []string{"vllm, version: main-2f41c894, args: {max-num-seqs: 32}", "sglang, version: main-0bda0b16, args: {max-running-requests: 32}"} {
		text := strings.Replace(chatScenario, "vllm, version: main-2f41c894, args: {max-num-seqs: 32}", engine, 1)
		dir := withFiles(t, map[string]string{"s.yaml": text})
		want, _ := resultOf(t, dir)
		dir = withFiles(t, map[string]string{"s.yaml": strings.Replace(text, known, unknown, 1)})
		got, _ := resultOf(t, dir, "--catalog-overlay", over)
		if a, b := got.Figures, want.Figures; len(a) == 0 || a[0] != b[0] {
			t.Errorf("%s: got %+v, want what %s gives, %+v", engine, a, known, b)
		}
		if code, _, complaint := blisIn(t, dir, "run", "s.yaml"); code == 0 || !strings.Contains(complaint, unknown) {
			t.Errorf("without its entry: got %d, %q", code, complaint)
		}
	}
}

// The Result of a command names what supplied its speculative acceptance, and a profile
// that would be borrowed is refused where only the exact one is asked for (D8).
func TestTheResultNamesWhatSuppliedItsAcceptance(t *testing.T) {
	keep.Rule(t, "D8")
	const args = "tensor-parallel-size: 8, speculative-config: {method: mtp, num_speculative_tokens: K}"
	text := strings.NewReplacer("max-num-seqs: 32", args, "llama-3.1-8b", "qwen3.5-397b-a17b", "h100_sxm", "h200_sxm", "requests: 40", "requests: 2",
		"workload:", "workload:\n  acceptance: {profile: coding/thinking_on}").Replace(chatScenario)
	for _, c := range []struct {
		drafts, step string
	}{{"8", "exact"}, {"9", "other_k"}} {
		dir := withFiles(t, map[string]string{"s.yaml": strings.Replace(text, "K}", c.drafts+"}", 1)})
		r, _ := resultOf(t, dir)
		if u := r.Inputs.Acceptance; len(u) != 1 || u[0].Step != c.step || !strings.Contains(u[0].Source, "qwen3.5_mtp") {
			t.Errorf("%s drafts: the Result names %+v, want the profile by step %s", c.drafts, u, c.step)
		}
		code, _, complaint := blisIn(t, dir, "run", "s.yaml", "--exact-acceptance")
		if (code == 0) != (c.step == "exact") || code != 0 && !strings.Contains(complaint, "none may be borrowed") {
			t.Errorf("%s drafts, exact alone: got code %d, %s", c.drafts, code, complaint)
		}
	}
}
