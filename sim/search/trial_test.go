package search

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// An arm that did not settle, failed its frame, has no figure or misses a constraint is
// never ranked, however good its figures.
func TestOnlySoundArmsAreRanked(t *testing.T) {
	keep.Rule(t, "CFG-4", "DEV-10")
	simulate := fake(func(s *spec.Scenario, id, _ string, seed uint64) float64 {
		switch {
		case id == "e2e_mean" && armOf(s) == 6:
			return 9 + noise(seed, "6") // around the bound
		case id == "e2e_mean" && armOf(s) == 7:
			return 20 + noise(seed, "7")
		case id == "e2e_mean":
			return 5 + noise(seed, "all")
		}
		return 100 - float64(armOf(s)) + 0.1*noise(seed, "all")
	}, func(s *spec.Scenario, r *spec.Result) {
		switch armOf(s) {
		case 2:
			r.Accepted, r.Failures, r.Figures = false, []string{"failed requests: 0.5"}, nil
		case 3:
			r.Steady = &spec.SteadyState{State: "overloaded"}
		case 4:
			r.Steady = &spec.SteadyState{State: "incomplete"}
		case 5:
			r.Withheld = []spec.Withheld{{Metric: "ttft_mean", Scope: "cluster", Reason: "no sample"}}
		case 1:
			r.Steady = &spec.SteadyState{State: "settled"}
			r.Withheld = []spec.Withheld{{Metric: "ttft_mean", Scope: "instance:0", Reason: "no sample"}} // of another scope
		}
	})
	r := ran(t, study(t, 7, "rank: [{metric: ttft_mean}]\nconstraints: [{metric: e2e_mean, at_most: 9}]\n"), simulate)
	want := []struct{ status, reason string }{
		{"ranked", ""}, {"outside_frame", "with seed 1: failed requests: 0.5"}, {"overloaded", "with seed 1 the backlog grows"}, {"incomplete", "too short to tell"},
		{"withheld", "ttft_mean has no figure: cluster: no sample"}, {"constraint_not_met", "at most 9 wanted: not told apart from its bound"}, {"constraint_not_met", "at most 9 wanted: not met"},
	}
	for i, w := range want {
		a := r.Arms[i]
		if string(a.Status) != w.status || !strings.Contains(a.Reason, w.reason) {
			t.Errorf("arm %d: got %s, %q, want %s, %q", i+1, a.Status, a.Reason, w.status, w.reason)
		}
		if (a.Standing != "") != (w.status == "ranked") || slices.Contains(r.Order, i+1) != (w.status == "ranked") {
			t.Errorf("arm %d, %s: has the standing %q, order %v", i+1, a.Status, a.Standing, r.Order)
		}
	}
}

// A later seed counts as much as the first.
func TestOneUnsettledRunIsEnough(t *testing.T) {
	s := study(t, 1, "rank: [{metric: ttft_mean}]\n")
	r := ran(t, s, fake(func(*spec.Scenario, string, string, uint64) float64 { return 1 }, func(s *spec.Scenario, r *spec.Result) {
		if s.Frame.Seed == 4 {
			r.Steady = &spec.SteadyState{State: "overloaded"}
		}
	}))
	if a := r.Arms[0]; a.Status != overloaded || !strings.Contains(a.Reason, "seed 4") || len(r.Order) != 0 || r.Comparison.Count != 0 {
		t.Errorf("got %s, %q", a.Status, a.Reason)
	}
}

// A figure over the scopes of a kind is their greatest, least or mean.
func TestAggregatesOverScopes(t *testing.T) {
	_, base := example(t)
	for aggregate, want := range map[string]float64{"max": 3, "min": 1, "mean": 2} {
		s := opened(t, "schema: blis.search/1\nbase: chat.yaml\naxes: [{path: cluster.instances, values: [3]}]\nrank: [{metric: ttft_mean, scope: instance, aggregate: "+aggregate+"}]\n", base)
		r := ran(t, s, fake(func(_ *spec.Scenario, _, scope string, _ uint64) float64 {
			var n int
			fmt.Sscanf(scope, "instance:%d", &n)
			return float64(n + 1)
		}, nil))
		f := r.Arms[0].Figures[0]
		if f.Value != want || f.Scope != "instance" || f.Aggregate != aggregate || f.Unit != "u" {
			t.Errorf("%s: got %+v, want %v", aggregate, f, want)
		}
	}
}

// A refused arm gives the reason in the refuser's words.
func TestRefusedArmsSayWhy(t *testing.T) {
	keep.Rule(t, "T-M2")
	s := study(t, 2, "rank: [{metric: ttft_mean}]\n")
	good := fake(func(*spec.Scenario, string, string, uint64) float64 { return 1 }, nil)
	r := ran(t, s, func(jobs []Job) ([]*Trial, error) {
		out, err := good(jobs)
		if len(jobs) == 2 {
			out[1] = NewTrial(jobs[1])
			out[1].Refused = &diag.Refusal{Line: 1, Col: 90, Field: "engine.args", Problem: "does not fit", Accept: "a wider layout"}
		}
		return out, err
	})
	if a := r.Arms[1]; a.Status != refused || a.Reason != "engine.args: does not fit; accepted: a wider layout" || a.Run != nil {
		t.Errorf("got %+v", a)
	}
	if a := r.Arms[0]; a.Standing != Best || a.Run.Method != "roofline" || a.Run.Accelerators != 1 {
		t.Errorf("got %+v, want the least trusted method of the run", a.Run)
	}
}

// A bound is kept by the whole interval, missed by the whole interval, or undecided.
func TestBoundsAreKeptByTheWholeInterval(t *testing.T) {
	bound := 5.0
	for _, c := range []struct {
		low, high   float64
		most, least string
	}{{1, 5, met, undecided}, {4, 6, undecided, undecided}, {5.1, 6, missed, met}, {5, 5, met, met}, {1, 4.9, met, missed}} {
		if required, got := (&Constraint{AtMost: &bound}).judge(c.low, c.high); got != c.most || required != "at most 5" {
			t.Errorf("%v..%v at most 5: got %q, %q", c.low, c.high, required, got)
		}
		if required, got := (&Constraint{AtLeast: &bound}).judge(c.low, c.high); got != c.least || required != "at least 5" {
			t.Errorf("%v..%v at least 5: got %q, %q", c.low, c.high, required, got)
		}
	}
}

// A name that begins another is not taken for it.
func TestScopesAreReadByTheirWholeName(t *testing.T) {
	r := &spec.Result{Figures: []spec.Figure{{Metric: "ttft_mean", Scope: "class:a:b", Value: 9}, {Metric: "ttft_mean", Scope: "class:a", Value: 1, Unit: "s"}}}
	if v, unit, missing := (quantity{"ttft_mean", "class:a", ""}).read(r); v != 1 || unit != "s" || missing != "" {
		t.Errorf("got %v %s, %q", v, unit, missing)
	}
	if _, _, missing := (quantity{"ttft_mean", "class:c", ""}).read(r); missing != "nothing is of scope class:c" {
		t.Errorf("got %q", missing)
	}
}

// An arm in a lane without close points is an extrapolation, with the lane's error.
func TestLanesSayWhatIsExtrapolated(t *testing.T) {
	keep.Rule(t, "CFG-5")
	_, base := example(t)
	c, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	s := opened(t, "schema: blis.search/1\nbase: chat.yaml\naxes: [{name: m, options: [{name: seen, set: {model: gpt-oss-120b}}, {name: unseen, set: {}}]}]\nrank: [{metric: ttft_mean}]\n", base)
	const lane = "vllm openai/gpt-oss-120b h100_sxm fp4"
	for _, k := range []struct {
		grade record.Grade
		want  string
	}{{record.G1, ""}, {record.G2, ""}, {record.G4, "extrapolation: " + lane + " has no G1 or G2 point: mean error of ttft_mean 12.5%, 6 points"}} {
		e := &Evidence{Catalog: c}
		if err := e.Read(published(t, lane, k.grade, 6)); err != nil {
			t.Fatal(err)
		}
		r, err := s.Run(fake(func(*spec.Scenario, string, string, uint64) float64 { return 1 }, nil), e)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Arms[0].Run; got.Extrapolated != k.want || len(got.Lanes) != 1 || got.Lanes[0].Grades[k.grade] != 6 || len(got.Lanes[0].Errors) != 1 {
			t.Errorf("%s: got %+v, want %q", k.grade, got, k.want)
		}
		if got := r.Arms[1].Run; !strings.Contains(got.Extrapolated, "no measured run of this engine, model, chip and precision") {
			t.Errorf("an unmeasured lane: got %+v", got)
		}
		if r.Inputs.Accuracy == nil || r.Inputs.Accuracy.SummarySHA256 == "" {
			t.Error("the report does not name the summary")
		}
	}
	for _, other := range []string{"sglang openai/gpt-oss-120b h100_sxm fp4", "vllm openai/gpt-oss-20b h100_sxm fp4", "vllm openai/gpt-oss-120b h200_sxm fp4", "vllm openai/gpt-oss-120b h100_sxm fp8"} {
		e := &Evidence{Catalog: c}
		if err := e.Read(published(t, other, record.G1, 6)); err != nil {
			t.Fatal(err)
		}
		r, err := s.Run(fake(func(*spec.Scenario, string, string, uint64) float64 { return 1 }, nil), e)
		if err != nil || len(r.Arms[0].Run.Lanes) != 0 || r.Arms[0].Run.Extrapolated == "" {
			t.Errorf("the lane %s: got %v, %+v", other, err, r.Arms[0].Run)
		}
	}
	r := ran(t, s, fake(func(*spec.Scenario, string, string, uint64) float64 { return 1 }, nil))
	if got := r.Arms[0].Run.Extrapolated; !strings.Contains(got, "no summary of measured accuracy was given") {
		t.Errorf("without a summary: got %q", got)
	}
	summary, _ := published(t, lane, record.G4, 6)
	_, points := published(t, lane, record.G4, 5)
	if err := new(Evidence).Read(summary, points); err == nil || !strings.Contains(err.Error(), "G4: 5 points: are not those that summary.json sums up") {
		t.Errorf("points of another site: got %v", err)
	}
}

// published are a summary and its points, all of one lane and grade.
func published(t *testing.T, lane string, g record.Grade, n int) (summary, points Document) {
	t.Helper()
	words := strings.Fields(lane)
	var all []record.Point
	for range n {
		all = append(all, record.Point{Lane: lane, Engine: words[0], Model: words[1], Hardware: words[2], Precision: words[3], Grade: g})
	}
	bare := record.NewBareFigure(0.125, "ratio", n, lane, "one deployment")
	whole := record.Summary{Coverage: record.Coverage{ByGrade: map[record.Grade]int{g: n}},
		ByLane: []record.Accuracy{{Group: lane, Metric: "ttft_mean", MAPE: bare, MedianAPE: bare, Bias: bare, Spread: bare, CountedMAPE: bare}}}
	out := make([]Document, 2)
	for i, v := range []any{whole, all} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = Document{[]string{"summary.json", "points.json"}[i], b}
	}
	return out[0], out[1]
}

// A study gives the same report each time it is run.
func TestStudiesRunTwiceAlike(t *testing.T) {
	keep.Rule(t, "CFG-2")
	specification, base := example(t)
	simulate := fake(func(s *spec.Scenario, id, scope string, seed uint64) float64 {
		return 1e-3 * noise(seed, id, scope, fmt.Sprint(s.Engine.Args))
	}, nil)
	s := opened(t, specification, base)
	var first string
	for i := range 2 {
		r := ran(t, s, simulate)
		if c := r.Arms[3].Choices; len(c) != 2 || c[0] != (Choice{"layout", "TP2"}) || c[1] != (Choice{"batch tokens", "4096"}) {
			t.Errorf("got the choices %v", c)
		}
		b, err := r.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if again := string(b); i > 0 && again != first {
			t.Errorf("got another report")
		} else {
			first = again
		}
	}
}
