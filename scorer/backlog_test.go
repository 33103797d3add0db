package scorer

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

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
	met := map[string]bool{}
	for _, c := range []struct {
		kind, name string
		spoil      func(*record.Trial)
	}{
		{"field", "max-num-seqs", func(t *record.Trial) { t.Settings[0].Status = fields.NotModelled }},
		{"field", "max-num-seqs", func(t *record.Trial) { t.Settings[0].Covered = false }},
		{"fidelity", "max-num-seqs", func(t *record.Trial) { t.Settings[0].Logged, t.Settings[0].Resolved = "8", "16" }},
		{"value", "seed", func(t *record.Trial) { t.Estimates = []record.Estimate{{Field: "seed"}} }},
		{"library", "flashinfer 0.7", func(t *record.Trial) { t.Libraries[0].Priced = nil }},
		{"coefficient", "step gap on h", func(t *record.Trial) {
			t.Steps = []record.TypicalStep{{Parts: []record.StepPart{{Name: "step gap", Method: "assumed"}}}}
		}},
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
		if len(got) != 1 || got[0].Kind != c.kind || got[0].Name != c.name || got[0].Playbook == "" || got[0].Recipe == "" {
			t.Errorf("%s %s: got %+v, want one entry with its playbook", c.kind, c.name, got)
		}
		met[c.kind] = true
	}
	for kind := range playbooks {
		if !met[kind] {
			t.Errorf("no case makes an entry of kind %s", kind)
		}
	}
	if got := Rank([]record.Point{one(t, exact())}).Entries; len(got) != 0 {
		t.Errorf("a G1: got %+v, want nothing to do", got)
	}
}

// A point that several settings block counts once in an entry of each, as another point with
// other values of them does.
func TestBacklogHasAnEntryForEachSettingThatBlocks(t *testing.T) {
	keep.Rule(t, "COV-7")
	blocked := func(id, steps string) record.Trial {
		trial := named(exact(), id)
		trial.Refusal = &record.Refused{Reason: record.FieldNotModelled, Detail: "algorithm=mtp: why; steps=" + steps + ": why", Settings: []record.Blocked{
			{Reason: record.FieldNotModelled, Setting: "algorithm", Value: "mtp", Why: "why"}, {Reason: record.FieldUnclassified, Setting: "steps", Value: steps, Why: "why"}}}
		return trial
	}
	p, err := Points([]record.Trial{blocked("u1", "2"), blocked("u2", "3")})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range Rank(p).Entries {
		got = append(got, fmt.Sprint(e.Name, " ", e.Points, " ", e.Recipe))
	}
	if want := []string{"field_not_modelled: algorithm 2 " + cleared[record.FieldNotModelled].recipe, "field_unclassified: steps 2 " + cleared[record.FieldUnclassified].recipe}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// §11.4, §11.6: what keeps a unit from being scored names what ends it, only what a new entry
// ends asks for one, and each playbook is a recipe or a rule that is there.
func TestBacklogSaysWhatClearsEachReason(t *testing.T) {
	keep.Rule(t, "COV-7")
	said := map[string]record.Reason{}
	for _, r := range record.Reasons() {
		trial := exact()
		trial.Refusal = &record.Refused{Reason: r, Detail: "d"}
		got := Rank([]record.Point{one(t, trial)}).Entries
		if len(got) != 1 || got[0].Playbook == "" || said[got[0].Playbook] != "" {
			t.Fatalf("%s: got %+v, want one entry with a playbook of its own", r, got)
		}
		said[got[0].Playbook] = r
		onboards := r == record.EngineUnsupported || r == record.TopologyUnsupported || r == record.NotInCatalog
		if strings.HasPrefix(got[0].Playbook, "a new ") != onboards {
			t.Errorf("%s is cleared by %q", r, got[0].Playbook)
		}
	}
	recipes, err := os.ReadFile("../content/contributing/add.md")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := os.ReadFile("../invariants/records/T.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range slices.Concat(slices.Collect(maps.Values(playbooks)), slices.Collect(maps.Values(cleared))) {
		at, found := strings.CutPrefix(p.recipe, ruleAt)
		there := found && strings.Contains(string(rules), "- id: "+at+"\n")
		if at, found := strings.CutPrefix(p.recipe, "contributing/add/#"); found {
			there = strings.Contains(strings.ToLower(string(recipes)), "\n## "+strings.ReplaceAll(at, "-", " ")+"\n")
		}
		if !there {
			t.Errorf("%q is cleared at %s, which is not there", p.clears, p.recipe)
		}
	}
}
