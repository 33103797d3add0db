package invariants

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
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
	keep.Rule(t, "FID-1", "FID-3", "T-E4", "T-F1")
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
	for port := range ports { // what the recorder replaced: another list is another version
		name := port + "/testdata/recorder.json"
		data, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		var r recorder
		if err := strict.JSON(name, data, &r); err != nil {
			t.Fatal(err)
		}
		files[name+"@"+r.Version] = data
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

// variety is what the fields of recordings were seen to hold.
type variety struct {
	values  map[string]map[string]bool // of a field that is no object or list; two are enough
	present map[string]int
	objects map[string]int // how often the object that a field belongs to was seen
}

// named is a key that names a request, a group or a node: one field, whatever its name.
var named = regexp.MustCompile(`.*\d.*`)

func (v *variety) see(path string, x any) {
	switch x := x.(type) {
	case map[string]any:
		v.objects[path]++
		for k, y := range x {
			field := path + "." + named.ReplaceAllString(k, "*")
			v.present[field]++
			v.see(field, y)
		}
	case []any:
		for _, y := range x {
			v.see(path+"[]", y)
		}
	default:
		if v.values[path] == nil {
			v.values[path] = map[string]bool{}
		}
		if len(v.values[path]) < 2 {
			v.values[path][fmt.Sprint(x)] = true
		}
	}
}

// constant are the fields that hold one value wherever they could be.
func (v *variety) constant() (out []string) {
	for _, field := range sortedKeys(v.values) {
		owner := field[:max(strings.LastIndexByte(field, '.'), 0)]
		if len(v.values[field]) == 1 && !strings.HasSuffix(field, "[]") && v.present[field] >= v.objects[owner] {
			out = append(out, strings.TrimPrefix(field, "."))
		}
	}
	return out
}

// inputs are the parts of a recording that say what was driven; the rest is compared.
var inputs = []string{"provenance", "engine", "scenario", "scenario_sha256", "config", "input", "format", "manifest_version"}

func varietyOf(recordings [][]byte) (*variety, error) {
	v := &variety{map[string]map[string]bool{}, map[string]int{}, map[string]int{}}
	for _, data := range recordings {
		plain, err := plainText(data)
		if err != nil {
			return nil, err
		}
		var doc map[string]any
		if err := json.Unmarshal(plain, &doc); err != nil {
			return nil, err
		}
		if doc["steps"] == nil { // defaults, which no run shows
			continue
		}
		for _, k := range inputs {
			delete(doc, k)
		}
		v.see("", doc)
	}
	return v, nil
}

// TestEveryComparedFieldVaries keeps FID-10: a field that every recording holds at one
// value, or none, would be compared and show nothing.
func TestEveryComparedFieldVaries(t *testing.T) {
	keep.Rule(t, "FID-10")
	lone := map[string][]string{"engines/sglang": {"error"}} // no recorded run ended in one; a port that refuses a run differs
	for port := range ports {
		files, err := filepath.Glob(filepath.Join("..", port, "testdata", "oracle", "*.json*"))
		if err != nil || len(files) < 50 {
			t.Fatalf("%s: got %d recordings, %v (X22)", port, len(files), err)
		}
		recordings := make([][]byte, len(files))
		for i, p := range files {
			if recordings[i], err = os.ReadFile(p); err != nil {
				t.Fatal(err)
			}
		}
		v, err := varietyOf(recordings)
		if err != nil {
			t.Fatal(err)
		}
		if got := v.constant(); len(v.values) < 30 || !slices.Equal(got, lone[port]) {
			t.Errorf("%s: of %d fields, %q have one value in every recording, want %q: record a scenario that varies them", port, len(v.values), got, lone[port])
		}
	}
}

func TestAFieldOfOneValueIsFound(t *testing.T) {
	const one = `{"scenario": 1, "steps": [{"n": 1, "new": true}, {"n": 2, "blk": {"r1": 4, "r2": 5}}]}`
	for _, c := range []struct {
		docs []string
		want []string
	}{
		{[]string{one}, nil},
		{[]string{strings.Replace(one, `"n": 2`, `"n": 1`, 1)}, []string{"steps[].n"}},
		{[]string{strings.Replace(one, `"r2": 5`, `"r2": 4`, 1)}, []string{"steps[].blk.*"}},
		{[]string{strings.Replace(one, `"n": 2`, `"n": 2, "new": true`, 1)}, []string{"steps[].new"}},
		{[]string{one, strings.Replace(one, `"scenario": 1`, `"error": null`, 1)}, nil}, // left out is a value
	} {
		var recordings [][]byte
		for _, d := range c.docs {
			recordings = append(recordings, []byte(d))
		}
		v, err := varietyOf(recordings)
		if err != nil {
			t.Fatal(err)
		}
		if got := v.constant(); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.docs, got, c.want)
		}
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
// Three or six digits are a colour.
func TestNoIssueIsCited(t *testing.T) {
	keep.Rule(t, "X28")
	cited := regexp.MustCompile(`(?:^|[\s(])#(?:\d{2}|\d{4,5})\b|/(?:issues|pull)/\d+|\bGH-\d+`)
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
		bad{"a list", files{"engines/a/fields.json": "{\"reason\": \"see #12345\"}\n"}, "fields.json:1: cites an issue"},
		bad{"a comment", files{"a/a.go": "package a\n\n// Not modelled: https://example.com/x/issues/7\n"}, "a/a.go:3"},
		bad{"words", files{"a/a.go": "package a\n\n// Not modelled: nobody sets it.\n"}, ""})
}
