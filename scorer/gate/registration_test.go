package gate

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/ledger"
)

const registration = `schema: blis.preregistration/1
change: h200-attention-overlap
hypothesis: attention overlaps the collective on H200
layer: pricing form
target: {lane: vllm m0, metric: tpot_mean}
criteria: {target: better, others: not worse}
predicted_change: {low: -0.05, high: -0.01}
`

func TestRegistrationRefusals(t *testing.T) {
	keep.Rule(t, "VAL-6")
	for _, c := range []struct{ name, old, new, want string }{
		{"accepted", "", "", ""},
		{"nothing promised", "target: better", "target: not worse", ""},
		{"schema", "preregistration/1", "preregistration/2", "schema: blis.preregistration/2"},
		{"change", "h200-attention-overlap", "H200", "change: H200"},
		{"hypothesis", "attention overlaps the collective on H200", `" "`, "hypothesis"},
		{"layer", "pricing form", "luck", "layer: luck"},
		{"lane", "lane: vllm m0", `lane: ""`, "target.lane"},
		{"metric", "metric: tpot_mean", "metric: tpot", "target.metric: tpot"},
		{"another test", "others: not worse", "others: any", "criteria.others: any"},
		{"range", "low: -0.05", "low: 0.05", "predicted_change: 0.05 to -0.01"},
		{"its own commit", "layer:", "commits: {base: a, candidate: b}\nlayer:", "commits"},
		{"unknown key", "layer:", "level:", "level"},
		{"two documents", "schema:", "---\nx: 1\n---\nschema:", "more than one document"},
	} {
		_, err := ReadRegistration("r.yaml", []byte(strings.Replace(registration, c.old, c.new, 1)))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := ReadRegistration("r.yaml", make([]byte, MaxRegistration+1)); err == nil || !strings.Contains(err.Error(), "is larger than") {
		t.Errorf("too large: got %v", err)
	}
}

// The example in the recipe for contributors is a registration.
func TestTheRecipeIsARegistration(t *testing.T) {
	text, err := os.ReadFile("../../content/contributing/add.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(text), "```yaml\nschema: blis.pre")
	example, _, _ = strings.Cut("schema: blis.pre"+example, "```")
	r, err := ReadRegistration("add.md", []byte(example))
	if err != nil || r.Promise() == nil {
		t.Errorf("got %+v, %v, want a registration that promises its target", r, err)
	}
}

func TestPredictionsAreOfTheTreesThatAreCompared(t *testing.T) {
	keep.Rule(t, "T-A1", "VAL-6")
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	base, cand := &Predictions{}, &Predictions{}
	base.Build.Commit, cand.Build.Commit = a, b
	for _, c := range []struct{ name, base, candidate, want string }{
		{"the two trees", a, b, ""},
		{"the wrong way round", b, a, "base.build.commit"},
		{"a later head", a, strings.Repeat("c", 40), "candidate.build.commit: " + b},
		{"a short id", a, "bbbbbbb", "candidate commit: bbbbbbb"},
	} {
		if err := Trees(base, cand, c.base, c.candidate); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	cand.Build.Commit += "+modified"
	if err := Trees(base, cand, a, b); err == nil || !strings.Contains(err.Error(), "candidate.build.commit") {
		t.Errorf("a modified tree: got %v, want a refusal", err)
	}
}

// Every evaluation is counted under its change, a negative one too, and no line can
// be changed, taken out or reordered.
func TestEvaluationsAreCountedAndKept(t *testing.T) {
	keep.Rule(t, "D7")
	l := new(Log)
	var lines []string
	for _, e := range []Evaluation{
		{Change: "a-change", Role: ledger.Held, Report: &Report{Why: "worse on x"}},
		{Change: "b-change", Role: ledger.Held, Report: &Report{Passed: true}},
		{Change: "a-change", Role: ledger.Held, Report: &Report{Passed: true}},
		{Change: "a-change", Role: ledger.Select, Report: &Report{}},
	} {
		line, err := l.Append(&e)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	again, err := ReadLog("e.jsonl", []byte(strings.Join(lines, "")))
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Count("a-change", ledger.Held); got != 2 || again.Evaluations[2].Number != 2 || again.Evaluations[0].Report.Why != "worse on x" {
		t.Errorf("got %d evaluations, want the failed one and the second", got)
	}
	for _, c := range []struct{ name, text, want string }{
		{"taken out", lines[0] + lines[2], "previous: is not the hash"},
		{"reordered", lines[1] + lines[0], "previous: is not the hash"},
		{"changed", strings.Replace(lines[0], "worse on x", "fine", 1) + lines[1], "previous: is not the hash"},
		{"truncated", lines[0][:len(lines[0])-1], "truncated"},
		{"miscounted", strings.Replace(lines[0], `"number":1`, `"number":2`, 1), "number: does not count"},
		{"spaced", strings.Replace(lines[0], `,"`, `, "`, 1), "canonical"},
		{"unknown key", strings.Replace(lines[0], `{"`, `{"a":1,"`, 1), "unknown key"},
	} {
		if _, err := ReadLog("e.jsonl", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

// D7: what is asked of predictions does not depend on the role of a unit.
func TestPredictionsMustCoverEveryUnit(t *testing.T) {
	keep.Rule(t, "D7", "VAL-6")
	l, b, c := world(t, rand.New(rand.NewPCG(5, 6)), 0)
	for _, spoil := range []func(p *Predictions){
		func(p *Predictions) { p.Units = p.Units[1:] },
		func(p *Predictions) { p.Units = p.Units[:len(p.Units)-1] },
		func(p *Predictions) { p.Units[3].UnitID = strings.Repeat("0", 64) },
		func(p *Predictions) { p.Units = append(p.Units, Prediction{UnitID: strings.Repeat("f", 64)}) },
	} {
		broken := *c
		broken.Units = slices.Clone(c.Units)
		spoil(&broken)
		if _, err := Compare(l, seed, ledger.Held, b, &broken, nil); err == nil || !strings.Contains(err.Error(), "units[") {
			t.Errorf("got %v, want a refusal", err)
		}
	}
}

func TestCandidateThatGivesUpUnitsFails(t *testing.T) {
	keep.Rule(t, "VAL-6")
	l, b, c := world(t, rand.New(rand.NewPCG(5, 6)), 0.03)
	c.Units[7].Metrics, c.Units[7].Reason = nil, "field_not_modelled"
	r, err := Compare(l, seed, ledger.Held, b, c, nil)
	if err != nil || r.Passed || r.Unpredicted != 1 {
		t.Errorf("got %+v, %v, want a failure for one lost unit", r, err)
	}
}

// Held units on a legacy side are reported apart, can fail a candidate, and cannot
// be what makes it pass.
func TestLegacyUnitsAreReportedAsNotBlind(t *testing.T) {
	l, b, c := world(t, rand.New(rand.NewPCG(7, 7)), 0.03)
	for i := range l.Units {
		u := &l.Units[i]
		l.Legacy = append(l.Legacy, ledger.LegacyUnit{UnitID: u.ID, Side: ledger.Held, By: "label", Legacy: []string{u.ID}})
	}
	r, err := Compare(l, seed, ledger.Held, b, c, m0)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Lanes) != 0 || len(r.NotBlind) == 0 || r.Passed {
		t.Errorf("got %d blind and %d other lanes, passed %v, want no blind lane and no pass", len(r.Lanes), len(r.NotBlind), r.Passed)
	}
}

func TestTypicalErrorIsAnAggregate(t *testing.T) {
	keep.Rule(t, "VAL-5")
	l, b, _ := world(t, rand.New(rand.NewPCG(1, 2)), 0)
	r, err := TypicalError(l, seed, ledger.Held, b)
	if err != nil || len(r.Lanes) != 5 {
		t.Fatalf("got %+v, %v, want five lanes", r, err)
	}
	for _, lane := range r.Lanes {
		if lane.Units < MinUnits || !(lane.Interval[0] < lane.Error && lane.Error < lane.Interval[1]) || lane.Error < 0.05 || lane.Error > 0.15 {
			t.Errorf("got %+v, want about 10%% inside its interval over at least %d units", lane, MinUnits)
		}
	}
	if r, err := TypicalError(l, seed, ledger.Validate, b); err != nil || len(r.Lanes) != 0 {
		t.Errorf("a role without units: got %+v, %v", r, err)
	}
}

func TestTargetNamesALaneByWords(t *testing.T) {
	lane := &Lane{Name: "vllm a h100 fp8" + and + "vllm b h200 fp8", Metric: "tpot_mean"}
	for words, want := range map[string]bool{"vllm h200": true, "VLLM b": true, "vllm a h200": false, "sglang": false} {
		if got := (&Target{Lane: words, Metric: "tpot_mean"}).names(lane); got != want {
			t.Errorf("%q: got %v, want %v", words, got, want)
		}
	}
	if (&Target{Lane: "vllm", Metric: "ttft_mean"}).names(lane) {
		t.Error("another metric was named")
	}
}

func FuzzReadRegistration(f *testing.F) {
	f.Add([]byte(registration))
	f.Fuzz(func(t *testing.T, b []byte) { _, _ = ReadRegistration("r.yaml", b) })
}

func FuzzReadLog(f *testing.F) {
	line, err := new(Log).Append(&Evaluation{Change: "a-change", Role: ledger.Held, Report: &Report{}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Fuzz(func(t *testing.T, b []byte) { _, _ = ReadLog("e.jsonl", b) })
}
