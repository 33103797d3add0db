package scorer

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

func TestRefusalsAreG5(t *testing.T) {
	keep.Rule(t, "COV-4", "COV-5")
	for _, r := range record.Reasons() {
		trial := exact()
		trial.Refusal = &record.Refused{Reason: r, Detail: "d"}
		if p := one(t, trial); p.Grade != record.G5 || p.Reason != r || len(p.Metrics) != 0 || len(p.Measured) != 2 || p.Measured["ttft_mean"] <= 0 {
			t.Errorf("%s: got %s %s with metrics %v, measured %v, want G5 with what was measured and no comparison", r, p.Grade, p.Reason, p.Metrics, p.Measured)
		}
	}
	trial := exact()
	trial.Refusal = &record.Refused{Reason: "too_hard"}
	if _, err := Points([]record.Trial{trial}); err == nil || !strings.Contains(err.Error(), "is not a reason of §11.4") {
		t.Errorf("got %v, want a refusal of the unlisted reason", err)
	}
	for name, spoil := range map[string]func(*record.Trial){
		"neither a refusal nor": func(t *record.Trial) { t.Result = nil },
		"engines: is empty":     func(t *record.Trial) { t.Result.Engines = nil },
		"is no figure of a run": func(t *record.Trial) { t.Result.Figures[0].Value = 2 * record.MaxFigure },
	} {
		trial := exact()
		spoil(&trial)
		if _, err := Points([]record.Trial{trial}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
	trial = exact()
	trial.Unit.Serving.Image, trial.EngineVersion = nil, ""
	if p := one(t, trial); p.Reason != record.BuildUnparseable {
		t.Errorf("got %q, want build_unparseable", p.Reason)
	}
}

// Percentiles, distance, concurrency and token totals are compared where the source
// records them, and a difference is G2 (COV-10, COV-12).
func TestRecordedDistributionIsCompared(t *testing.T) {
	keep.Rule(t, "COV-10")
	full := func() record.Trial {
		trial := exact()
		p := func(a, b, c float64) *ledger.Percentiles { return &ledger.Percentiles{P50: &a, P90: &b, P99: &c} }
		four := 4.0
		m := &trial.Unit.Measurements[0]
		m.TTFT, m.TPOT = p(90, 150, 200), p(10, 11, 12)
		m.Totals = &ledger.Totals{Completed: 10, PromptTokens: 900, OutputTokens: 90, DurationS: 5, Concurrency: &four}
		for id, v := range map[string]float64{"ttft_p50": 0.09, "ttft_p90": 0.15, "ttft_p99": 0.25, "tpot_p50": 0.01, "tpot_p90": 0.011, "tpot_p99": 0.012} {
			trial.Result.Figures = append(trial.Result.Figures, spec.Figure{Metric: id, Scope: "cluster", Value: v, Unit: "s"})
		}
		trial.Result.Figures = append(trial.Result.Figures, spec.Figure{Metric: "concurrency", Scope: "cluster", Value: 4.1, Unit: "requests"})
		trial.Result.Requests = spec.RequestCount{PromptTokens: 900, OutputTokens: 90}
		return trial
	}
	p := one(t, full())
	if p.Grade != record.G1 || len(p.Metrics) != 8 || p.Distance == nil || p.Distance.At != "ttft_p99" || math.Abs(p.Distance.Value-0.25) > 1e-9 || !p.Achieved.Within {
		t.Errorf("got %s, %d metrics, distance %+v, concurrency %+v, want G1 with all", p.Grade, len(p.Metrics), p.Distance, p.Achieved)
	}
	if q := one(t, exact()); q.Distance != nil || q.Achieved != nil || len(q.Conditions) != len(p.Conditions)-2 {
		t.Errorf("a source of means alone: got distance %+v, concurrency %+v, %d conditions", q.Distance, q.Achieved, len(q.Conditions))
	}
	broken := map[string]bool{}
	for _, c := range []struct {
		name  string
		spoil func(*record.Trial)
		says  string
	}{
		{"other concurrency", func(t *record.Trial) { t.Result.Figures[len(t.Result.Figures)-1].Value = 4.21 }, "achieved concurrency 4.00 measured, 4.21 simulated"},
		{"other requests", func(t *record.Trial) { t.Result.Requests.PromptTokens++ }, "the client counted 900 prompt"},
		{"no concurrency", func(t *record.Trial) { t.Unit.Measurements[0].Totals.Concurrency = nil }, "is not recorded"},
	} {
		trial := full()
		c.spoil(&trial)
		q := one(t, trial)
		for _, k := range q.Conditions {
			broken[k.Name] = broken[k.Name] || !k.Held
		}
		if q.Grade != record.G2 || !strings.Contains(strings.Join(q.Differences, "\n"), c.says) {
			t.Errorf("%s: got %s %q, want G2 that says %q", c.name, q.Grade, q.Differences, c.says)
		}
	}
	for _, r := range recorded {
		if !broken[r.name] {
			t.Errorf("no case breaks %q", r.name)
		}
	}
}

// D8: a borrowed acceptance profile is named on the point, an exact one is not.
func TestBorrowedAcceptanceIsNamed(t *testing.T) {
	keep.Rule(t, "D8")
	trial := exact()
	trial.Result.Inputs.Acceptance = []spec.ProfileUse{{Step: "exact"}, {Step: "other_drafter", Differs: []string{"drafter eagle3 for mtp"}}}
	p := one(t, trial)
	if got := strings.Join(p.Differences, "\n"); p.Grade != record.G1 || got != "speculative acceptance borrowed by step other_drafter: drafter eagle3 for mtp" {
		t.Errorf("got %s %q, want the borrowed profile named", p.Grade, got)
	}
}

func TestCompare(t *testing.T) {
	trial := exact()
	trial.Unit.Measurements = append(trial.Unit.Measurements, ledger.Measurement{TTFTMeanMS: 120, TPOTMeanMS: 10})
	m := one(t, trial).Metrics["ttft_mean"]
	if m.Measured != 0.11 || math.Abs(m.RelativeError) > 1e-12 || m.Noise == nil || math.Abs(*m.Noise-20.0/110) > 1e-12 {
		t.Errorf("got %+v, want the mean 0.11 s of two measurements and their spread", m)
	}
	trial = exact()
	trial.Result.Figures[0].Unit = "ms"
	if _, err := Points([]record.Trial{trial}); err == nil {
		t.Error("figures in different units were compared (DEV-8)")
	}
	trial = exact()
	trial.Result.Figures[0].Scope = "instance:0"
	if _, err := Points([]record.Trial{trial}); err == nil {
		t.Error("figures of different scopes were compared (DEV-8)")
	}
	trial = exact()
	trial.Result.Accepted = false
	if _, err := Points([]record.Trial{trial}); err == nil {
		t.Error("a run that failed its frame gave a figure (DEV-7)")
	}
}

func TestNoisePoolsOnlyEqualDigests(t *testing.T) {
	keep.Rule(t, "COV-10")
	spread := func(digests ...string) map[string]map[string]float64 {
		var trials []record.Trial
		for i, d := range digests {
			trial := exact()
			trial.Unit.ID = fmt.Sprint("u", i)
			trial.Unit.Measurements[0].TTFTMeanMS = 100 + 10*float64(i)
			trial.Unit.Measurements[0].Records = []ledger.Record{{ImageDigest: d}}
			trials = append(trials, trial)
		}
		n, err := noise(trials)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := spread("aa", "aa"); math.Abs(n["u0"]["ttft_mean"]-10.0/105) > 1e-12 {
		t.Errorf("equal digests: got %v, want a spread of 10 over 105", n)
	}
	for _, d := range [][]string{{"aa", "bb"}, {"", ""}} {
		if n := spread(d...); len(n["u0"]) != 0 {
			t.Errorf("digests %v: got %v, want no pooling", d, n)
		}
	}
}

// points makes n points of one lane in k deployments, errors e(i).
func points(n, k int, e func(int) float64) []record.Point {
	out := make([]record.Point, n)
	for i := range out {
		out[i] = record.Point{UnitID: fmt.Sprint(i), RoleKey: fmt.Sprint(i % k), Lane: "l", Engine: "vllm", Grade: record.G4, Concurrency: 1 << (i % 9),
			Metrics: map[string]record.Metric{"tpot_mean": {RelativeError: e(i)}}, Trial: &record.Trial{}}
	}
	return out
}

func TestSummary(t *testing.T) {
	keep.Rule(t, "COV-1", "COV-11", "DEV-11")
	p := points(40, 8, func(i int) float64 { return []float64{0.1, -0.1, 0.2, -0.2}[i%4] })
	s := Summarize(p, record.Build{}, Cover(p, 50, 10))
	h := s.Headline[0]
	if v, _ := h.MAPE.Value(); math.Abs(v-0.15) > 1e-12 {
		t.Errorf("MAPE: got %v, want 0.15", v)
	}
	if v, _ := h.Bias.Value(); math.Abs(v) > 1e-12 {
		t.Errorf("bias: got %v, want 0", v)
	}
	if lo, hi, ok := h.MAPE.Interval(); !ok || lo > 0.15 || hi < 0.15 || lo == hi {
		t.Errorf("interval: got %v %v %v, want one around 0.15", lo, hi, ok)
	}
	slices.Reverse(p)
	if again := Summarize(p, record.Build{}, Cover(p, 50, 10)); fmt.Sprint(again) != fmt.Sprint(s) {
		t.Error("the summary depends on the order of points")
	}
	if few := Summarize(p[:4], record.Build{}, record.Coverage{}).Headline[0].MAPE; few.String() != "too few points (4)" {
		t.Errorf("got %q, want too few points", few)
	}
	if one := Summarize(points(9, 1, func(int) float64 { return 0.1 }), record.Build{}, record.Coverage{}).Headline[0].MAPE; one.Points() != 9 || !strings.Contains(one.Covers(), "no interval") {
		t.Errorf("got %q covering %q, want no interval for one deployment", one, one.Covers())
	}
}

// COV-10: the distribution distance has a figure of its own over all points and each
// lane, of the points whose source records percentiles.
func TestDistanceIsSummedUpByLane(t *testing.T) {
	keep.Rule(t, "COV-10")
	p := points(12, 4, func(int) float64 { return 0 })
	for i := range p[:6] {
		p[i].Distance = &record.Distance{Value: 0.1 + 0.1*float64(i%2), At: "ttft_p99"}
	}
	p[0].Lane = "k"
	got := Summarize(p, record.Build{}, record.Coverage{}).Distances
	if len(got) != 3 || got[0].Group != "G1 to G4" || got[1].Group != "k" || got[2].Group != "l" {
		t.Fatalf("got %+v, want all points, then lanes k and l", got)
	}
	if v, ok := got[0].Mean.Value(); !ok || math.Abs(v-0.15) > 1e-12 || got[0].Mean.Points() != 6 {
		t.Errorf("got %s, want 15%% over 6 points", got[0].Mean)
	}
	if got[1].Mean.String() != "too few points (1)" {
		t.Errorf("got %s, want too few points", got[1].Mean)
	}
	if none := Summarize(p[6:], record.Build{}, record.Coverage{}).Distances; none == nil || len(none) != 0 {
		t.Errorf("a source of means alone: got %+v, want an empty list", none)
	}
}

func TestNoiseIsNotCountedAsError(t *testing.T) {
	keep.Rule(t, "COV-10")
	p := points(10, 2, func(int) float64 { return 0.03 })
	n := 0.05
	for i := range p {
		m := p[i].Metrics["tpot_mean"]
		m.Noise = &n
		p[i].Metrics["tpot_mean"] = m
	}
	h := Summarize(p, record.Build{}, record.Coverage{}).Headline[0]
	raw, _ := h.MAPE.Value()
	counted, _ := h.CountedMAPE.Value()
	if math.Abs(raw-0.03) > 1e-12 || counted != 0 {
		t.Errorf("got %v and %v, want 0.03 raw and 0 counted", raw, counted)
	}
}

func TestCoverageAddsUp(t *testing.T) {
	keep.Rule(t, "COV-1", "COV-7")
	p := points(6, 2, func(int) float64 { return 0 })
	p[0].Grade, p[0].Reason = record.G5, record.EngineUnsupported
	c := Cover(p, 9, 3)
	if c.Graded != 5 || c.Units != 6 || c.ByReason[record.EngineUnsupported] != 1 || c.ByGrade[record.G4]+c.ByGrade[record.G5] != c.Units {
		t.Errorf("got %+v, want counts that add up to 6", c)
	}
}

func named(t record.Trial, id string) record.Trial {
	u := *t.Unit
	u.ID, t.Unit = id, &u
	return t
}

func one(t *testing.T, trial record.Trial) record.Point {
	t.Helper()
	p, err := Points([]record.Trial{trial})
	if err != nil {
		t.Fatal(err)
	}
	return p[0]
}
