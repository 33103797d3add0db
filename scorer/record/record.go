// Package record is the documents that scoring makes: a Trial (one unit's run,
// before judgement), a Point (the trial compared and graded), a Summary, a
// Coverage and a Backlog. It holds data and their checks, and computes no figure.
//
// Source: Target Design §11. Rules kept: COV-1, COV-4, COV-5, COV-10, COV-11, DEV-8.
package record

import (
	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// Trial is one unit turned into a scenario and run. Either Refusal is set, or
// Scenario and Result are.
type Trial struct {
	Unit          *ledger.Unit   `json:"unit"`
	Scenario      *spec.Scenario `json:"scenario,omitempty"`
	Result        *spec.Result   `json:"result,omitempty"`
	Refusal       *Refused       `json:"refusal,omitempty"`
	Settings      []Setting      `json:"settings"`           // every recorded setting and what became of it
	Estimates     []Estimate     `json:"estimates"`          // values the run did not record, or stand-ins
	Steps         []TypicalStep  `json:"typical_steps"`      // what steps of this run cost, by part
	Timeline      *Timeline      `json:"timeline,omitempty"` // null: the run was not watched
	Libraries     []Library      `json:"libraries"`          // library versions the run recorded; empty when it recorded none
	Client        []string       `json:"client"`             // differences between the run's client and the simulated one
	EngineVersion string         `json:"engine_version"`     // the run's own
	Simulated     string         `json:"simulated_version"`
	// Changed lists the ported upstream functions that differ between the run's
	// release and the simulated one; null when no function-level comparison exists.
	Changed *[]string `json:"ported_functions_changed"`
}

// TypicalStep is one step shape of the run, priced and explained.
type TypicalStep struct {
	Name    string     `json:"name"` // "decode at full concurrency", "prefill of one prompt"
	Seconds float64    `json:"seconds"`
	Parts   []StepPart `json:"parts"`
}

// StepPart is one primitive's share of a step and what priced it.
type StepPart struct {
	Name      string   `json:"name"`
	Primitive string   `json:"primitive"`
	Kernel    string   `json:"kernel"` // library/variant
	Seconds   float64  `json:"seconds"`
	Method    string   `json:"method"`
	Entries   []string `json:"entries"`
	Flags     []string `json:"flags,omitempty"`
}

// Library is one recorded library version, and whether its kernels are the ones priced.
type Library struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Priced  *bool  `json:"priced"` // null: not compared
}

// Refused is why no result exists.
type Refused struct {
	Reason   Reason    `json:"reason"`
	Detail   string    `json:"detail"`             // names the fields and values, or the condition
	Settings []Blocked `json:"settings,omitempty"` // each one that blocks the unit, whatever its reason
}

// Blocked is one setting that keeps a unit from being scored.
type Blocked struct {
	Reason  Reason `json:"reason"`
	Setting string `json:"setting"`
	Value   string `json:"value,omitempty"` // empty where no single value does
	Why     string `json:"why"`
}

// String names the setting, its value and why it blocks.
func (b Blocked) String() string {
	if b.Value == "" {
		return b.Setting + ": " + b.Why
	}
	return b.Setting + "=" + b.Value + ": " + b.Why
}

// Setting is one setting the run recorded.
type Setting struct {
	Name     string        `json:"name"`
	Recorded string        `json:"recorded"`
	Stage    string        `json:"stage"` // "passed", or "resolved" where only the engine's log has it
	Status   fields.Status `json:"status"`
	Covered  bool          `json:"covered"`            // the value lies in a class the evidence covers
	Stated   string        `json:"stated,omitempty"`   // what the scenario says; empty when left out
	Resolved string        `json:"resolved,omitempty"` // by the simulated engine
	Logged   string        `json:"logged,omitempty"`   // as the run's engine logged it resolved
}

// Estimate is one substitution.
type Estimate struct {
	Field    string `json:"field"`
	Recorded string `json:"recorded"` // empty when the run did not record it
	Rule     string `json:"rule"`     // the rule's Do
	StoodIn  string `json:"stood_in"`
	Reason   string `json:"reason"`
	Exact    bool   `json:"exact"`
}

// Grade is a closeness grade (§11.3).
type Grade string

const (
	G1 Grade = "G1"
	G2 Grade = "G2"
	G3 Grade = "G3"
	G4 Grade = "G4"
	G5 Grade = "G5"
)

// Grades lists the closed set, closest first.
func Grades() []Grade { return []Grade{G1, G2, G3, G4, G5} }

// Reason is why a point is not scored (§11.4).
type Reason string

const (
	CodeNotVisible      Reason = "code_not_visible"
	RouterUnsupported   Reason = "router_unsupported"
	ValueNotRecorded    Reason = "value_not_recorded"
	FieldNotModelled    Reason = "field_not_modelled"
	FieldUnclassified   Reason = "field_unclassified"
	EngineUnsupported   Reason = "engine_unsupported"
	TopologyUnsupported Reason = "topology_unsupported"
	NotInCatalog        Reason = "not_in_catalog"
	FieldNotInRelease   Reason = "field_not_in_release"
	ValueConflict       Reason = "value_conflict"
	BuildUnparseable    Reason = "build_unparseable"
)

// Reasons lists the closed set in the order in which the first that applies wins: without an
// engine and a topology no setting can be looked at; the rest is in §11.4's order.
func Reasons() []Reason {
	return []Reason{EngineUnsupported, TopologyUnsupported, CodeNotVisible, RouterUnsupported, ValueNotRecorded, FieldNotModelled,
		FieldUnclassified, NotInCatalog, FieldNotInRelease, ValueConflict, BuildUnparseable}
}

// Point is a trial compared and graded.
type Point struct {
	UnitID        string             `json:"unit_id"`
	RoleKey       string             `json:"role_key"` // hash of the role key: what bootstrap resamples
	Lane          string             `json:"lane"`     // engine/model/hardware/precision
	Engine        string             `json:"engine"`
	EngineVersion string             `json:"engine_version"`
	Hardware      string             `json:"hardware"`
	Model         string             `json:"model"`
	Precision     string             `json:"precision"`
	ISL           int                `json:"isl"`
	OSL           int                `json:"osl"`
	Concurrency   int                `json:"concurrency"`
	GPUs          int                `json:"gpus,omitempty"` // of the simulated deployment; absent: not simulated
	Grade         Grade              `json:"grade"`
	Reason        Reason             `json:"reason,omitempty"`
	Detail        string             `json:"detail,omitempty"`
	Differences   []string           `json:"differences"` // every substitution and difference, for people
	Conditions    []Condition        `json:"conditions"`
	Metrics       map[string]Metric  `json:"metrics"`                         // by metric id
	Measured      map[string]float64 `json:"measured,omitempty"`              // seconds by metric id, of a point without a comparison
	KVLimited     bool               `json:"kv_limited"`                      // the simulated run preempted or queued for KV space
	Distance      *Distance          `json:"distribution_distance,omitempty"` // null: the source records no percentiles
	Achieved      *Achieved          `json:"achieved_concurrency,omitempty"`  // null: the source records none
	Tradeoff      *Tradeoff          `json:"tradeoff,omitempty"`
	Trial         *Trial             `json:"-"` // what it was made from; published as a file of its own
}

// PointFile is the document published beside a point's page.
type PointFile struct {
	Point *Point `json:"point"`
	Trial *Trial `json:"trial,omitempty"`
}

// Distance is how far apart two latency distributions are: the largest absolute
// relative error over p50, p90 and p99 of TTFT and TPOT.
type Distance struct {
	Value float64 `json:"value"`
	At    string  `json:"at"` // the metric id it is reached at
}

// Achieved compares the concurrency the run reached with the simulated one (COV-10).
type Achieved struct {
	Measured  float64 `json:"measured"`
	Simulated float64 `json:"simulated"`
	Tolerance float64 `json:"tolerance"` // relative
	Within    bool    `json:"within"`
}

// Condition is one grade condition, evaluated.
type Condition struct {
	Grade  Grade  `json:"grade"` // the grade it guards
	Name   string `json:"name"`
	Held   bool   `json:"held"`
	Detail string `json:"detail,omitempty"`
}

// Metric is one comparison. Measured and Simulated have one definition, scope and
// aggregate (DEV-8).
type Metric struct {
	Measured      float64  `json:"measured"`
	Simulated     float64  `json:"simulated"`
	Unit          string   `json:"unit"`
	RelativeError float64  `json:"relative_error"`  // (simulated - measured) / measured
	Noise         *float64 `json:"noise,omitempty"` // relative spread of repeated measurements; null when there are none
	Interval      string   `json:"interval"`        // of the simulated figure, or why it has none
}
