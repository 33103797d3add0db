package scorer

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// exact is a trial that meets every condition of G1.
func exact() record.Trial {
	img, isl := "vllm/vllm-openai:v1.2.3", 1024
	return record.Trial{
		Unit: &ledger.Unit{
			ID:           "u1",
			Identity:     ledger.Identity{RoleKey: ledger.RoleKey{Model: "m", Hardware: "h", Precision: "fp8", Framework: "vllm"}, Concurrency: 8},
			Serving:      ledger.Serving{Image: &img, ISL: &isl, OSL: &isl},
			Measurements: []ledger.Measurement{{TTFTMeanMS: 100, TPOTMeanMS: 10}},
		},
		EngineVersion: "1.2.3", Simulated: "1.2.3", Scenario: new(spec.Scenario),
		Settings:  []record.Setting{{Name: "max-num-seqs", Recorded: "8", Stage: "passed", Status: fields.Modelled, Covered: true}},
		Libraries: []record.Library{{Name: "flashinfer", Version: "0.7", Priced: true}},
		Result: &spec.Result{
			Accepted: true, Random: "none",
			Figures: []spec.Figure{{Metric: "ttft_mean", Scope: "cluster", Value: 0.11, Unit: "s"}, {Metric: "tpot_mean", Scope: "cluster", Value: 0.0095, Unit: "s"}},
			Methods: []spec.MethodUse{{Method: "measured", Share: 1}},
			Engines: []spec.EngineRun{{Accelerators: 8}},
		},
	}
}

// sent records how many requests the run's client sent, and how many were simulated.
func sent(t *record.Trial, prompts int, completed int64) {
	t.Unit.Configurations = []ledger.Configuration{{Client: &ledger.Client{NumPrompts: &prompts}}}
	t.Unit.Measurements[0].Configuration = new(int)
	t.Result.Requests.Measured.Completed = completed
}

// Every condition of §11.3 has a case that starts from a G1 and breaks it alone.
func TestEachConditionMovesAG1(t *testing.T) {
	keep.Rule(t, "COV-4", "COV-6", "COV-12", "T-L1")
	broken := map[string]bool{}
	cases := []struct {
		name  string
		spoil func(*record.Trial)
		want  record.Grade
		says  string
	}{
		{"nothing", func(*record.Trial) {}, record.G1, ""},
		{"setting not modelled", func(t *record.Trial) { t.Settings[0].Status = fields.NotModelled }, record.G2, "max-num-seqs=8 is not_modelled"},
		{"setting removed", func(t *record.Trial) { t.Settings[0].Status = fields.Removed }, record.G2, "removed"},
		{"value not covered", func(t *record.Trial) { t.Settings[0].Covered = false }, record.G2, "max-num-seqs=8"},
		{"estimate", func(t *record.Trial) { t.Estimates = []record.Estimate{{Field: "max-model-len", Reason: "default"}} }, record.G2, "max-model-len"},
		{"exact stand-in", func(t *record.Trial) { t.Estimates = []record.Estimate{{Field: "x", Exact: true}} }, record.G1, ""},
		{"resolved value differs", func(t *record.Trial) { t.Settings[0].Logged, t.Settings[0].Resolved = "12", "16" }, record.G2, "logged 12, resolved 16"},
		{"resolved otherwise than passed", func(t *record.Trial) { t.Settings[0].Logged, t.Settings[0].Resolved = "16", "16" }, record.G1, ""},
		{"resolved value alone, not modelled", func(t *record.Trial) {
			t.Settings = append(t.Settings, record.Setting{Name: "own-choice", Stage: "resolved", Status: fields.NotModelled, Covered: true})
		}, record.G1, ""},
		{"no library versions", func(t *record.Trial) { t.Libraries = nil }, record.G2, "no library versions"},
		{"library not priced", func(t *record.Trial) { t.Libraries[0].Priced = false }, record.G2, "flashinfer 0.7"},
		{"calibrated coefficient", func(t *record.Trial) { t.Result.Methods[0].Method = "calibrated" }, record.G1, ""},
		{"transferred coefficient", func(t *record.Trial) { t.Result.Methods[0].Method = "transferred" }, record.G2, "transferred prices 100.0%"},
		{"assumed or unidentified coefficient", func(t *record.Trial) {
			t.Result.Methods = append(t.Result.Methods, spec.MethodUse{Method: "assumed", Share: 0.25})
		}, record.G2, "assumed prices 25.0%"},
		{"router that stands in", func(t *record.Trial) {
			t.Estimates = []record.Estimate{{Field: "router", Recorded: "r turn", StoodIn: "llm-d round-robin", Reason: "both take turns"}}
		}, record.G2, "router r turn: both take turns"},
		{"client difference", func(t *record.Trial) { t.Client = []string{"client commit not recorded"} }, record.G2, "client commit"},
		{"as many requests as the client sent", func(t *record.Trial) { sent(t, 40, 40) }, record.G1, ""},
		{"fewer requests than the client sent", func(t *record.Trial) { sent(t, 40, 39) }, record.G2, "the client sent 40 requests, 39 were simulated to their end"},
		{"other release, same code", func(t *record.Trial) { t.Simulated, t.Changed = "1.3.0", new([]string) }, record.G3, "run on 1.2.3"},
		{"other release, changed code", func(t *record.Trial) { t.Simulated, t.Changed = "1.3.0", &[]string{"Scheduler.schedule"} }, record.G4, "Scheduler.schedule"},
		{"other release, unknown code", func(t *record.Trial) { t.Simulated = "1.3.0" }, record.G4, "no function-level comparison"},
		{"nightly of the simulated commit", func(t *record.Trial) {
			*t.Unit.Serving.Image, t.Simulated = "vllm/vllm-openai:nightly-2f41c894e320", "main-2f41c894"
		}, record.G1, ""},
		{"custom build", func(t *record.Trial) {
			*t.Unit.Serving.Image, t.EngineVersion = "vllm/vllm-openai:glm5-hopper", "glm5-hopper"
		}, record.G4, "custom build glm5-hopper"},
		{"the least close of several", func(t *record.Trial) {
			t.Simulated, t.Client = "1.3.0", []string{"client commit not recorded"}
		}, record.G4, "client commit not recorded"},
		{"another nightly", func(t *record.Trial) {
			*t.Unit.Serving.Image, t.Simulated = "vllm/vllm-openai:nightly-5b8c30d62b75", "main-2f41c894"
		}, record.G4, "nightly build"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			trial := exact()
			c.spoil(&trial)
			p := one(t, trial)
			if p.Grade != c.want {
				t.Errorf("got %s, want %s: %+v", p.Grade, c.want, p.Conditions)
			}
			if got := strings.Join(p.Differences, "\n"); !strings.Contains(got, c.says) || (c.says == "") != (got == "") {
				t.Errorf("differences: got %q, want %q", got, c.says)
			}
			for _, k := range p.Conditions {
				broken[k.Name] = broken[k.Name] || !k.Held
			}
		})
	}
	for _, r := range rules {
		if !broken[r.name] {
			t.Errorf("no case breaks %q", r.name)
		}
	}
}

func TestRefusalsAreG5(t *testing.T) {
	keep.Rule(t, "COV-4", "COV-5")
	for _, r := range record.Reasons() {
		trial := exact()
		trial.Refusal = &record.Refused{Reason: r, Detail: "d"}
		if p := one(t, trial); p.Grade != record.G5 || p.Reason != r || len(p.Metrics) != 0 {
			t.Errorf("%s: got %s %s with %d metrics, want G5 without metrics", r, p.Grade, p.Reason, len(p.Metrics))
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

func TestBacklogRanks(t *testing.T) {
	keep.Rule(t, "COV-7")
	blocked, demoted := exact(), exact()
	blocked.Unit.ID, blocked.Refusal = "u2", &record.Refused{Reason: record.NotInCatalog, Detail: "model m"}
	demoted.Settings[0].Status = fields.NotModelled
	p, err := Points([]record.Trial{blocked, demoted, named(demoted, "u3")})
	if err != nil {
		t.Fatal(err)
	}
	b := Rank(p).Entries
	if len(b) != 2 || b[0].Name != "max-num-seqs" || b[0].Points != 2 || b[0].Effect != "demotes" || b[1].Effect != "blocks" || b[1].Playbook == "" {
		t.Errorf("got %+v, want the field first with 2 points, then the model", b)
	}
}

// §11.6: each kind of thing that demotes a point is an entry of its own, with its playbook.
func TestBacklogNamesEveryKind(t *testing.T) {
	keep.Rule(t, "COV-7")
	for _, c := range []struct {
		kind, name string
		spoil      func(*record.Trial)
	}{
		{"field", "max-num-seqs", func(t *record.Trial) { t.Settings[0].Status = fields.NotModelled }},
		{"field", "max-num-seqs", func(t *record.Trial) { t.Settings[0].Covered = false }},
		{"field", "max-num-seqs", func(t *record.Trial) { t.Settings[0].Logged, t.Settings[0].Resolved = "8", "16" }},
		{"field", "router", func(t *record.Trial) { t.Estimates = []record.Estimate{{Field: "router"}} }},
		{"coefficient", "gemm cutlass/fp8 on h", func(t *record.Trial) {
			t.Steps = []record.TypicalStep{{Parts: []record.StepPart{{Primitive: "gemm", Kernel: "cutlass/fp8", Method: "assumed"}}}}
		}},
		{"client", "client commit", func(t *record.Trial) { t.Client = []string{"client commit"} }},
		{"release", "1.2.3", func(t *record.Trial) { t.Simulated = "1.3.0" }},
		{"reason", "not_in_catalog: m", func(t *record.Trial) { t.Refusal = &record.Refused{Reason: record.NotInCatalog, Detail: "m"} }},
	} {
		trial := exact()
		c.spoil(&trial)
		got := Rank([]record.Point{one(t, trial)}).Entries
		if len(got) != 1 || got[0].Kind != c.kind || got[0].Name != c.name || got[0].Playbook == "" {
			t.Errorf("%s %s: got %+v, want one entry with its playbook", c.kind, c.name, got)
		}
	}
	if got := Rank([]record.Point{one(t, exact())}).Entries; len(got) != 0 {
		t.Errorf("a G1: got %+v, want nothing to do", got)
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
