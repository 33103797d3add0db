package harness

import (
	"fmt"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// scenario builds the scenario of t's unit and fills t's settings, estimates and
// client differences. Every reason not to that can be looked at is, and the first of
// record.Reasons wins.
func (w *World) scenario(t *record.Trial) (*spec.Scenario, *record.Refused) {
	u := t.Unit
	kind, refused := w.engine(u)
	if refused != nil {
		return nil, refused
	}
	t.Simulated = kind.Upstream().Version
	c, refused := recorded(u)
	if refused != nil {
		return nil, refused
	}
	s := &spec.Scenario{Schema: spec.Schema, Engine: spec.Engine{Kind: kind.Name(), Version: t.Simulated}}
	vocab, placed := w.place(u, c, s)
	return s, first(append(state(c, kind.Fields(), s, t), w.router(c.Router), frame(c, vocab, s, t), placed))
}

func (w *World) engine(u *ledger.Unit) (engines.Kind, *record.Refused) {
	i := slices.IndexFunc(w.Engines, func(k engines.Kind) bool { return k.Name() == u.Framework })
	if i < 0 {
		return nil, refuse(record.EngineUnsupported, "no port of %s", u.Framework)
	}
	if u.Serving.Disagg {
		return nil, refuse(record.TopologyUnsupported, "prefill and decode ran on separate engines")
	}
	return w.Engines[i], nil
}

// recorded is the one configuration u ran with.
func recorded(u *ledger.Unit) (*ledger.Configuration, *record.Refused) {
	c, differing := u.RecordedConfiguration()
	switch {
	case differing != nil:
		return nil, refuse(record.ValueConflict, "the unit's measurements were launched with different %s", strings.Join(differing, ", "))
	case c == nil:
		return nil, refuse(record.ValueNotRecorded, "launch arguments: the source has no launch facts of the run")
	case c.Match != "unique":
		why := "no launch in the benchmark's history fits the run"
		if c.Match == "ambiguous" {
			why = "several launches in the benchmark's history fit the run"
		}
		return nil, refuse(record.ValueNotRecorded, "launch arguments: %s", why)
	case c.Speculation == "unknown":
		return nil, refuse(record.ValueNotRecorded, "whether speculative decoding was on")
	}
	return c, nil
}

// router refuses a run behind any router: no scenario can state a policy of llm-d,
// the one that is to be hosted (X4), nor how many instances stood behind it, so one that the
// router table maps to such a policy (§11.4) has nothing to stand in for it either.
func (w *World) router(r *ledger.Router) *record.Refused {
	if r == nil {
		return nil
	}
	named := strings.TrimSpace(fmt.Sprintf("router %s %s", r.Name, strings.TrimSpace(r.Mode+" "+r.Affinity)))
	if r.Name == "llm-d" {
		return refuse(record.RouterUnsupported, "%s: no policy of it is simulated", named)
	}
	table, ok := w.Catalog.Router(r.Name)
	if !ok {
		return refuse(record.RouterUnsupported, "%s is not hosted, and the router table does not know it", named)
	}
	m, ok := table.Mode(r.Mode, r.Affinity)
	switch {
	case !ok:
		return refuse(record.RouterUnsupported, "%s: the router table has no entry for it", named)
	case m.Policy == "":
		return refuse(record.RouterUnsupported, "%s: no llm-d policy is close enough: %s", named, m.NoneClose)
	}
	return refuse(record.RouterUnsupported, "%s: the router table maps it to llm-d %s, which is not simulated", named, m.Policy)
}

// place sets model, checkpoint and hardware by their catalog names, and gives the size of
// the model's vocabulary.
func (w *World) place(u *ledger.Unit, c *ledger.Configuration, s *spec.Scenario) (vocab int, refused *record.Refused) {
	ref, ok := w.Catalog.Resolve(u.Source, *c.Checkpoint)
	if !ok || ref.Kind != "model" {
		return 0, refuse(record.NotInCatalog, "model %s", *c.Checkpoint)
	}
	chip, ok := w.Catalog.Resolve(u.Source, u.Hardware)
	if !ok || chip.Kind != "chip" {
		return 0, refuse(record.NotInCatalog, "chip %s", u.Hardware)
	}
	m, err := w.Catalog.Model(ref.Name)
	if err != nil {
		return 0, refuse(record.NotInCatalog, "%v", err)
	}
	s.Model, s.Hardware = ref.Name, chip.Name
	if _, ok := m.Checkpoint(*c.Checkpoint); ok {
		s.Checkpoint = *c.Checkpoint
	} else if p, ok := m.ForPrecision(u.Precision); ok {
		s.Checkpoint = p.Name
	} else {
		return 0, refuse(record.NotInCatalog, "checkpoint %s of model %s", *c.Checkpoint, ref.Name)
	}
	return m.Graph.Vocab, nil
}

// version is the run's own engine version: what the source recorded, else its image.
func version(u *ledger.Unit) string {
	if v := u.Version(); v != "" {
		return v
	}
	for _, c := range u.Configurations {
		if c.Image != nil {
			return *c.Image
		}
	}
	return ""
}

func refuse(reason record.Reason, format string, args ...any) *record.Refused {
	return &record.Refused{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

// simulatorRefused gives the reason for a scenario the simulator would not run, or
// nil when its refusal has none in §11.4: a missing price, say, is a defect of the
// build and no property of the unit (COV-5).
func simulatorRefused(r *diag.Refusal) *record.Refused {
	family, _, _ := strings.Cut(r.Rule, "-")
	switch {
	case r.Rule == "X1" || r.Rule == "X9" || family == "VLM" || family == "SGL":
		return refuse(record.FieldNotModelled, "%v", r)
	case r.Rule == "SUB-3":
		return refuse(record.NotInCatalog, "%v", r)
	case r.Rule == "D8":
		return refuse(record.ValueNotRecorded, "%v", r)
	}
	return nil
}
