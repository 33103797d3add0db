package oracle

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

func traces(t testing.TB) []string {
	files, err := filepath.Glob("../testdata/oracle/*.json*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded traces: %v", err)
	}
	return files
}

func checkFile(t testing.TB, file string) Report {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rep, err := Check(filepath.Base(file), f)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// With requests that cruise, every recorded run ends in the recorded state: the same
// free list, cached keys and unfinished requests.
func TestCruisingEndsInTheRecordedState(t *testing.T) {
	for _, file := range traces(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if data, err = read(file, bytes.NewReader(data)); err != nil {
				t.Fatal(err)
			}
			recorded, err := decode(file, data)
			if err != nil || recorded["final"] == nil {
				return // no end on record
			}
			raw, err := json.Marshal(recorded["scenario"])
			if err != nil {
				t.Fatal(err)
			}
			w, err := parse(file, recorded, raw, true)
			if err != nil {
				t.Fatal(err)
			}
			_, ended, final := w.run()
			got, err := canonical(file, object{"ended": ended, "final": final})
			if err != nil {
				t.Fatal(err)
			}
			var rep Report
			rep.Compare("", map[string]any{"ended": recorded["ended"], "final": recorded["final"]}, got)
			for _, d := range rep.Differences {
				t.Error(d)
			}
		})
	}
}

// A corrupted value anywhere in a trace is found, and drawn.
func TestACorruptedValueIsADifference(t *testing.T) {
	for _, name := range []string{"preempt_priority_a.json", "spec_eagle_async.json", "hybrid_retention_64.json", "refuse_small_pool.json"} {
		for n := 0; n < 4000; n += 137 {
			f, err := os.Open("../testdata/oracle/" + name)
			if err != nil {
				t.Fatal(err)
			}
			rep, changed, err := CheckCorrupted(name, f, n)
			f.Close()
			if r, ok := errors.AsType[*diag.Refusal](err); ok && n > 0 && r.Field == "value" {
				break // the trace records fewer
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(rep.Differences) != 1 || rep.Differences[0].Path != changed {
				t.Fatalf("%s: %s changed: got %v, want that one difference", name, changed, rep.Differences)
			}
			if got := rep.Draw(); !strings.Contains(got, "!") || !strings.Contains(got, changed) {
				t.Errorf("%s: drawing of %s:\n%s", name, changed, got)
			}
		}
	}
}

// A field this package does not know is a difference, not ignored.
func TestAnUnknownRecordedFieldIsADifference(t *testing.T) {
	keep.Rule(t, "FID-10", "VLM-1", "X5")
	data, err := os.ReadFile("../testdata/oracle/budget_exact.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{`"tot":`, `"unheard":1,"tot":`, "steps[0].s[0].unheard"},
		{`"ended":`, `"unheard":1,"ended":`, "unheard"},
	} {
		spoiled := strings.Replace(string(data), c.from, c.to, 1)
		rep, err := Check("x.json", strings.NewReader(spoiled))
		if err != nil {
			t.Fatal(err)
		}
		if len(rep.Differences) != 1 || rep.Differences[0].Path != c.want {
			t.Errorf("got %v, want a difference at %s", rep.Differences, c.want)
		}
	}
	for _, c := range []string{`"max_num_seqs":`, `"arrival_step":`} {
		if _, err := Check("x.json", strings.NewReader(strings.Replace(string(data), c, `"unheard":1,`+c, 1))); err == nil {
			t.Errorf("an unknown scenario key beside %s: got no refusal", c)
		}
	}
}

func TestEveryRecordedTraceReplays(t *testing.T) {
	keep.Rule(t, "DEV-3", "FID-4", "T-F1", "VLM-1", "VLM-7", "X5", "X22")
	for _, file := range traces(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			rep := checkFile(t, file)
			for i, d := range rep.Differences {
				if i == 6 {
					t.Errorf("... %d differences in all", len(rep.Differences))
					break
				}
				t.Error(d)
			}
		})
	}
}
