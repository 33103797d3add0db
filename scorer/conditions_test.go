package scorer

import (
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
		Settings:  []record.Setting{{Name: "max-num-seqs", Recorded: "8", Stage: "passed", Status: fields.Modelled, Covered: true, Logged: "8", Resolved: "8"}},
		Libraries: []record.Library{{Name: "flashinfer", Version: "0.7", Priced: new(true)}},
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

// conditionCases start from a G1 and spoil one thing each.
var conditionCases = []struct {
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
	{"no resolved value logged", func(t *record.Trial) { t.Settings[0].Logged = "" }, record.G2, "the run logs no resolved values"},
	{"resolved value the port does not show", func(t *record.Trial) {
		t.Settings = append(t.Settings, record.Setting{Name: "seed", Stage: "resolved", Status: fields.Modelled, Covered: true, Logged: "7"})
	}, record.G2, "seed: logged 7, the engine port shows no value"},
	{"resolved value alone, not modelled", func(t *record.Trial) {
		t.Settings = append(t.Settings, record.Setting{Name: "own-choice", Stage: "resolved", Status: fields.NotModelled, Covered: true, Logged: "x"})
	}, record.G1, ""},
	{"no library versions", func(t *record.Trial) { t.Libraries = nil }, record.G2, "no library versions"},
	{"library not priced", func(t *record.Trial) { t.Libraries[0].Priced = new(false) }, record.G2, "flashinfer 0.7: another kernel is priced"},
	{"library not compared", func(t *record.Trial) { t.Libraries[0].Priced = nil }, record.G2, "flashinfer 0.7: not compared"},
	{"calibrated coefficient", func(t *record.Trial) { t.Result.Methods[0].Method = "calibrated" }, record.G1, ""},
	{"transferred coefficient", func(t *record.Trial) { t.Result.Methods[0].Method = "transferred" }, record.G2, "transferred prices 100.0%"},
	{"assumed or unidentified coefficient", func(t *record.Trial) {
		t.Result.Methods = append(t.Result.Methods, spec.MethodUse{Method: "assumed", Share: 0.25})
	}, record.G2, "assumed prices 25.0%"},
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

// Every condition of §11.3 has a case that starts from a G1 and breaks it alone.
func TestEachConditionMovesAG1(t *testing.T) {
	keep.Rule(t, "COV-4", "COV-6", "COV-12", "T-L1")
	broken := map[string]bool{}
	for _, c := range conditionCases {
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
