package invariants

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// recorded are the folders of recordings, which nothing in the module writes.
var recorded = []string{"engines/vllm/testdata/oracle", "engines/vllm/testdata/startup", "engines/sglang/testdata/oracle"}

// reviewed compares recordings with a list of `sha256 path reason` lines.
func reviewed(list string, files map[string][]byte) (out []Finding) {
	listed := map[string]string{}
	for line := range strings.Lines(list) {
		f := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(f) < 3 || strings.TrimSpace(f[2]) == "" {
			out = append(out, Finding{"invariants/recordings.txt", fmt.Sprintf("%q gives no reason (FID-3)", strings.TrimSpace(line)), "write `sha256 path why it was recorded or changed`"})
			continue
		}
		listed[f[1]] = f[0]
	}
	for _, p := range sortedKeys(files) {
		if got := fmt.Sprintf("%x", sha256.Sum256(files[p])); got != listed[p] {
			out = append(out, Finding{p, "is not the recording that was reviewed (FID-3)", "a change of what the upstream decided: list " + got + " with its reason; anything else: restore it"})
		}
		delete(listed, p)
	}
	for _, p := range sortedKeys(listed) {
		out = append(out, Finding{p, "was recorded and is gone (FID-3)", "restore it"})
	}
	return out
}

// TestARecordingChangesWithAReason keeps FID-3. No flag writes the list: whoever changes
// a recording writes its line by hand.
func TestARecordingChangesWithAReason(t *testing.T) {
	keep.Rule(t, "FID-3", "T-E4", "T-F1")
	list, err := os.ReadFile("recordings.txt")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, dir := range recorded {
		there, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(dir), "*"))
		if err != nil || len(there) < 3 {
			t.Fatalf("%s: got %d recordings, %v (X22)", dir, len(there), err)
		}
		for _, p := range there {
			if files[dir+"/"+filepath.Base(p)], err = os.ReadFile(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	report(t, reviewed(string(list), files))
	one := map[string][]byte{"a.json": []byte("{}")}
	const line = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a a.json"
	for _, c := range []struct{ name, list, want string }{
		{"reviewed", line + " recorded\n", ""},
		{"no reason", line + "\n", "gives no reason"},
		{"changed", strings.Replace(line, "44", "45", 1) + " recorded\n", "is not the recording that was reviewed"},
		{"new", "", "is not the recording that was reviewed"},
		{"gone", line + " recorded\n" + strings.Replace(line, "a.json", "b.json", 1) + " recorded\n", "b.json: was recorded and is gone"},
	} {
		checkFindings(t, c.name, reviewed(c.list, one), c.want)
	}
}

// frameworks are what connectors, tiers and cache managers are built on.
var frameworks = regexp.MustCompile(`(?i)(connector.?base|base.?connector|offloading(manager|spec)|hicache|storage.?base|:framework\b)`)

// TestAFrameworkIsModelledOnlyWithItsOwnTraces keeps FID-5.
func TestAFrameworkIsModelledOnlyWithItsOwnTraces(t *testing.T) {
	keep.Rule(t, "FID-5")
	item := regexp.MustCompile(`\{[^{}]*\}`)
	rule := func(m *Module) (out []Finding) {
		for _, p := range sortedKeys(m.Files) {
			if !strings.HasPrefix(p, "engines/") || filepath.Base(p) != "surface.json" {
				continue
			}
			for _, it := range item.FindAllString(string(m.Files[p]), -1) {
				if frameworks.MatchString(it) && regexp.MustCompile(`"status":\s*"modelled"`).MatchString(it) &&
					!(strings.Contains(it, "recorded:") && strings.Contains(it, "direct:")) {
					out = append(out, Finding{p, "calls a framework modelled without traces at its own interface (FID-5): " + it[:min(len(it), 120)], "name `recorded:` and `direct:` traces as its evidence, or refuse it"})
				}
			}
		}
		return out
	}
	hold(t, rule,
		bad{"a framework shown by a feature", files{"engines/a/surface.json": `[{"table": "kv_cache:framework", "name": "HiCacheController", "status": "modelled", "evidence": "TestRadix"}]`}, "calls a framework modelled"},
		bad{"a framework with both kinds", files{"engines/a/surface.json": `[{"table": "kv_cache:framework", "status": "modelled", "evidence": "recorded: TestA; direct: TestB"}]`}, ""},
		bad{"a refused one", files{"engines/a/surface.json": `[{"name": "OffloadingManager", "status": "refused"}]`}, ""})
}

// TestNoIssueIsCited keeps X28 by having nothing to keep open: a gap is stated in words.
func TestNoIssueIsCited(t *testing.T) {
	keep.Rule(t, "X28")
	cited := regexp.MustCompile(`(?:^|[\s(])#\d{2,6}\b|/(?:issues|pull)/\d+|\bGH-\d+`)
	reads := func(p string) bool {
		list := slices.Contains([]string{"fields.json", "surface.json"}, filepath.Base(p))
		return (list || slices.Contains([]string{".go", ".md"}, filepath.Ext(p))) && p != "invariants/recordings_test.go"
	}
	rule := eachLine(reads, func(line string, add finder) {
		if w := cited.FindString(line); w != "" {
			add(fmt.Sprintf("cites an issue, %q, which may close (X28)", strings.TrimSpace(w)), "say what is missing and why")
		}
	})
	hold(t, rule,
		bad{"a list", files{"engines/a/fields.json": "{\"reason\": \"see #123\"}\n"}, "fields.json:1: cites an issue"},
		bad{"a comment", files{"a/a.go": "package a\n\n// Not modelled: https://example.com/x/issues/7\n"}, "a/a.go:3"},
		bad{"words", files{"a/a.go": "package a\n\n// Not modelled: nobody sets it.\n"}, ""})
}
