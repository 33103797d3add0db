package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// document is a point's document of a scenario, as a site publishes it.
func document(t *testing.T, scenario string) string {
	t.Helper()
	s, err := spec.Parse("s", []byte(scenario))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	result, err := simulate("s", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	var r spec.Result
	if err := json.Unmarshal(result, &r); err != nil {
		t.Fatal(err)
	}
	f, ok := r.Figure("ttft_mean", "cluster")
	if !ok {
		t.Fatal("no ttft_mean")
	}
	doc, err := json.Marshal(record.PointFile{Point: &record.Point{Metrics: map[string]record.Metric{"ttft_mean": {Simulated: f.Value}}}, Trial: &record.Trial{Scenario: s, Result: &r}})
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

func TestAPublishedResultRegenerates(t *testing.T) {
	v, err := rerun([]byte(document(t, scenarios["measured"])), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !v.Same || v.Here != v.Published || len(v.Differs) != 0 || v.Bytes == 0 {
		t.Errorf("got %+v, want the same", v)
	}
}

func TestAnotherPublishedResultIsNamed(t *testing.T) {
	whole := document(t, scenarios["measured"])
	for name, c := range map[string]struct{ old, new, at string }{
		"a figure of the result":  {`"scope":"cluster","value":`, `"scope":"cluster","value":1`, "result.figures["},
		"the figure of the point": {`"ttft_mean":{"measured":0,"simulated":`, `"ttft_mean":{"measured":0,"simulated":1`, "point.metrics.ttft_mean.simulated"},
		"a field left out":        {`"accepted":true,`, ``, "result.accepted"},
		"a field too many":        {`"accepted":true,`, `"accepted":true,"also":1,`, "result.also"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := strings.Replace(whole, c.old, c.new, 1)
			if changed == whole {
				t.Fatalf("the document holds no %s", c.old)
			}
			v, err := rerun([]byte(changed), nil)
			if err != nil {
				t.Fatal(err)
			}
			if v.Same || len(v.Differs) != 1 || !strings.HasPrefix(v.Differs[0].At, c.at) {
				t.Errorf("got same %v, %+v; want one difference at %s", v.Same, v.Differs, c.at)
			}
		})
	}
}

func TestRerunRefusesADocumentWithoutResult(t *testing.T) {
	for _, doc := range []string{``, `{}`, `{"point":{},"trial":{"scenario":{}}}`} {
		if _, err := rerun([]byte(doc), nil); err == nil || !strings.Contains(err.Error(), "point.json") {
			t.Errorf("%q: got %v, want a refusal that names point.json", doc, err)
		}
	}
}

func TestProgressStopsARun(t *testing.T) {
	var ended, total int64
	_, err := simulate("s", []byte(scenarios["measured"]), func(e, n int64) bool { ended, total = e, n; return true })
	if !errors.Is(err, errStopped) || total != 80+2*8 || ended > total {
		t.Errorf("got %v at %d of %d, want it stopped before 96 of 96", err, ended, total)
	}
}

func TestProgressChangesNothing(t *testing.T) {
	want, err := simulate("s", []byte(scenarios["measured"]), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := simulate("s", []byte(scenarios["measured"]), func(int64, int64) bool { return false })
	if err != nil || string(got) != string(want) {
		t.Errorf("watched: got %d bytes, %v, want %d", len(got), err, len(want))
	}
}

func TestOfferNamesEnginesModelsAndChips(t *testing.T) {
	o, err := offered()
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Engines) == 0 || len(o.Models) == 0 || len(o.Chips) == 0 {
		t.Fatalf("got %+v, want engines, models and chips", o)
	}
	for _, m := range o.Models {
		if len(m.Checkpoints) == 0 {
			t.Errorf("%s: no checkpoint", m.Name)
		}
	}
}

func TestCodesAreThoseOfEveryProgram(t *testing.T) {
	if done != exit.Done || refused != exit.Refused || usage != exit.Usage {
		t.Errorf("got %d, %d, %d, want %d, %d, %d", done, refused, usage, exit.Done, exit.Refused, exit.Usage)
	}
}

func TestAReaderIsNotSentToAFileThatOnlyThePageHas(t *testing.T) {
	for name, scenario := range map[string]string{
		"syntax":   "schema: blis.scenario/1\nmodl: x\n",
		"meaning":  strings.Replace(scenarios["measured"], "llama-3.1-8b", "llama-9", 1),
		"argument": strings.Replace(scenarios["measured"], "max-num-seqs: 64", "max-num-seqs: -4", 1),
	} {
		_, err := simulate(made, []byte(scenario), nil)
		if err == nil || !strings.HasPrefix(err.Error(), made+":") {
			t.Fatalf("%s: got %v, want a refusal in %s", name, err, made)
		}
		if got := told(err); strings.Contains(got, made+":") || !strings.HasSuffix(err.Error(), got) {
			t.Errorf("%s: got %q of %q, want it without its position", name, got, err)
		}
	}
	const other = "point.json: trial: holds no scenario with its result"
	if _, err := rerun([]byte(`{}`), nil); told(err) != other {
		t.Errorf("got %q, want %q", told(err), other)
	}
}
