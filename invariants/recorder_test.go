package invariants

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

// recorder is what was replaced, driver by driver, to run an upstream without hardware.
type recorder struct {
	Version string   `json:"version"`
	Real    []string `json:"real"` // upstream code that ran unchanged, where the recorder lists it
	Drivers map[string][]struct {
		Kind string `json:"kind"`
		What string `json:"what"`
		Why  string `json:"why"`
	} `json:"drivers"`
}

// replaceable are the surroundings a recorder may replace. A transcription is a copy of
// upstream code, and says so (FID-8).
var replaceable = []string{"gpu", "clock", "transport", "platform", "environment", "transcription"}

// check finds what a recorder's list leaves unsaid.
func (r *recorder) check() (out []string) {
	for _, driver := range sortedKeys(r.Drivers) {
		for _, x := range r.Drivers[driver] {
			if !slices.Contains(replaceable, x.Kind) || x.What == "" || x.Why == "" && !strings.HasPrefix(x.What, "everything in ") {
				out = append(out, fmt.Sprintf("%s: %q of kind %q is not one of %q with a reason (FID-1)", driver, x.What, x.Kind, replaceable))
			}
		}
	}
	return out
}

// lists says what a recording names that the recorder's list does not have.
func (r *recorder) lists(recording []byte) (out []string) {
	var doc struct {
		Version    string `json:"manifest_version"`
		Provenance struct {
			Version   string `json:"manifest_version"`
			Driver    string `json:"driver"`
			Project   string `json:"project"`
			Tree      string `json:"tree_class"`
			Allocator string `json:"allocator"`
			Loop      string `json:"loop"`
		} `json:"provenance"`
		Scenario json.RawMessage `json:"scenario"`
		Input    json.RawMessage `json:"input"`
		Facts    json.RawMessage `json:"facts"`
	}
	if err := json.Unmarshal(recording, &doc); err != nil {
		return []string{err.Error()}
	}
	p := doc.Provenance
	driver := p.Driver
	if driver == "" && strings.HasPrefix(p.Project, "sgl-project/sglang") {
		driver = "sglang"
	}
	if r.Drivers[driver] == nil {
		out = append(out, fmt.Sprintf("was made by %q, of which nothing is listed (FID-1)", driver))
	}
	if v := doc.Version + p.Version; v != r.Version && doc.Facts == nil {
		out = append(out, fmt.Sprintf("was made with list %q, the list is %q (FID-1)", v, r.Version))
	}
	if doc.Scenario == nil && doc.Input == nil && doc.Facts == nil {
		out = append(out, "does not carry its scenario (FID-2)")
	}
	for _, class := range []string{p.Tree, p.Allocator, p.Loop} {
		if class != "" && !slices.ContainsFunc(r.Real, func(s string) bool { return strings.Contains(s, class) }) {
			out = append(out, class+" is not listed as the upstream's own code (SGL-1)")
		}
	}
	return out
}

// TestRecordingsNameTheListOfWhatWasReplaced keeps FID-1, FID-8 and SGL-1 as far as the
// recordings show. The list is reviewed as they are: recordings.txt names its version.
func TestRecordingsNameTheListOfWhatWasReplaced(t *testing.T) {
	keep.Rule(t, "FID-1", "FID-2", "FID-8", "SGL-1", "X5")
	list, err := os.ReadFile("recordings.txt")
	if err != nil {
		t.Fatal(err)
	}
	for port := range ports {
		name := port + "/testdata/recorder.json"
		text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		var r recorder
		if err := strict.JSON(name, text, &r); err != nil {
			t.Fatal(err)
		}
		for _, problem := range r.check() {
			t.Errorf("%s: %s", name, problem)
		}
		if !strings.Contains(string(list), " "+name+"@"+r.Version+" ") {
			t.Errorf("invariants/recordings.txt: does not list %s@%s (FID-1): a changed list has a new version", name, r.Version)
		}
		files, err := filepath.Glob(filepath.Join("..", port, "testdata", "oracle", "*.json*"))
		if err != nil || len(files) < 50 {
			t.Fatalf("%s: got %d recordings, %v (X22)", port, len(files), err)
		}
		for _, p := range files {
			data, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			if data, err = plainText(data); err != nil {
				t.Fatal(err)
			}
			for _, problem := range r.lists(data) {
				t.Errorf("%s: %s", p, problem)
			}
		}
	}
}

func TestARecordingOutsideTheListIsFound(t *testing.T) {
	keep.Rule(t, "FID-1", "FID-8")
	const list = `{"version": "1", "real": ["a.py: Tree"], "drivers": {"run.py": [{"kind": "gpu", "what": "executor", "why": "none here"}]}}`
	const good = `{"manifest_version": "1", "provenance": {"driver": "run.py", "tree_class": "Tree"}, "scenario": {}}`
	for _, c := range []struct{ list, recording, want string }{
		{list, good, ""},
		{strings.Replace(list, "gpu", "shortcut", 1), good, "is not one of"},
		{strings.Replace(list, "none here", "", 1), good, "with a reason"},
		{list, strings.Replace(good, "run.py", "other.py", 1), "of which nothing is listed"},
		{list, strings.Replace(good, `"manifest_version": "1"`, `"manifest_version": "2"`, 1), `was made with list "2"`},
		{list, strings.Replace(good, `"Tree"`, `"FastTree"`, 1), "is not listed as the upstream's own code"},
		{list, strings.Replace(good, `"scenario"`, `"other"`, 1), "does not carry its scenario"},
	} {
		var r recorder
		if err := strict.JSON("list", []byte(c.list), &r); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(append(r.check(), r.lists([]byte(c.recording))...), "\n")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.recording, got, c.want)
		}
	}
}
