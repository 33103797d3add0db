package search

import (
	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// ReportSchema is the id a report states.
const ReportSchema = "blis.search-report/1"

// Report is what a search found. It holds no time of day and nothing of the machine:
// equal inputs of one build give equal bytes.
type Report struct {
	Schema       string       `json:"schema"`
	Build        Build        `json:"build"`
	Experimental []string     `json:"experimental"` // why it is no release's report; empty for one
	Inputs       Inputs       `json:"inputs"`
	Comparison   Family       `json:"comparison"`
	Order        []int        `json:"order"`       // numbers of the ranked arms, best first
	Arms         []Result     `json:"arms"`        // in declared order
	Sensitivity  *Sensitivity `json:"sensitivity"` // null: not asked for, or no arm is ranked
}

// Build is the program that made a report.
type Build struct {
	Release string `json:"release"` // tag, or "unreleased"
	Commit  string `json:"commit"`  // with "+modified" for changed sources, "not stamped" where the build has none
}

// Inputs are everything that can change a byte of the report.
type Inputs struct {
	Spec            *Spec         `json:"spec"`
	SpecSHA256      string        `json:"spec_sha256"` // of its canonical JSON with every default written out
	Base            Input         `json:"base"`
	Data            []spec.Source `json:"data"` // catalog and registry
	ExactAcceptance bool          `json:"exact_acceptance"`
	Accuracy        *Accuracy     `json:"accuracy"` // null: none was given
}

// Accuracy is the published accuracy that extrapolations are judged by.
type Accuracy struct {
	SummarySHA256 string       `json:"summary_sha256"`
	PointsSHA256  string       `json:"points_sha256"`
	Build         record.Build `json:"build"` // that was scored
	Experimental  string       `json:"experimental,omitempty"`
}

// Family is how arms were compared.
type Family struct {
	First  uint64  `json:"first_seed"`
	Runs   int     `json:"runs"`       // of each arm; 1 when nothing is drawn, 0 when none ran
	Fresh  uint64  `json:"fresh_seed"` // the first of as many fresh seeds for the winners; 0 for none
	Count  int     `json:"comparisons"`
	Level  float64 `json:"level"`
	Method string  `json:"method"`
	Covers string  `json:"interval_covers"`
}

// status is what became of an arm; only a ranked one has a place.
type status string

const (
	ranked       status = "ranked"
	refused      status = "refused"
	outsideFrame status = "outside_frame"
	overloaded   status = "overloaded"
	incomplete   status = "incomplete"
	withheld     status = "withheld"
	notMet       status = "constraint_not_met"
)

// Result is what became of one arm.
type Result struct {
	Arm         int          `json:"arm"` // from 1, in declared order
	Choices     []Choice     `json:"choices"`
	Status      status       `json:"status"`
	Reason      string       `json:"reason,omitempty"`
	Standing    string       `json:"standing,omitempty"`
	Figures     []Figure     `json:"figures"` // objectives, then constraints
	Against     int          `json:"against,omitempty"`
	Differences []Difference `json:"differences"` // from that arm, by objective
	Fresh       *Fresh       `json:"fresh_seeds,omitempty"`
	Run         *Run         `json:"run,omitempty"` // null: the arm did not run
}

// Choice is the option of one axis.
type Choice struct {
	Axis   string `json:"axis"`
	Option string `json:"option"`
}

// Figure is a mean over replications.
type Figure struct {
	Metric     string         `json:"metric"`
	Scope      string         `json:"scope"`
	Aggregate  string         `json:"aggregate,omitempty"`
	Unit       string         `json:"unit"`
	Value      float64        `json:"value"`
	Runs       int            `json:"runs"`
	Interval   *spec.Interval `json:"interval,omitempty"`
	NoInterval string         `json:"no_interval,omitempty"`
	Required   string         `json:"required,omitempty"` // "at most 2"
	Verdict    string         `json:"verdict,omitempty"`  // met, not met, or not told apart from its bound
}

// The verdicts on a bound: the whole interval keeps it, lies beyond it, or neither.
const (
	met       = "met"
	missed    = "not met"
	undecided = "not told apart from its bound"
)

// Difference is the arm's figure minus that of the arm it is held against, paired by seed.
type Difference struct {
	Metric     string         `json:"metric"`
	Scope      string         `json:"scope"`
	Aggregate  string         `json:"aggregate,omitempty"`
	Value      float64        `json:"value"`
	Share      float64        `json:"share"`              // of the other arm's figure
	Interval   *spec.Interval `json:"interval,omitempty"` // of this difference alone
	Outcome    string         `json:"outcome"`            // better, worse, not distinguished
	Equivalent bool           `json:"equivalent"`         // the whole interval lies within the margin
}

// Fresh is a winner estimated again with seeds that had no part in its choice.
type Fresh struct {
	Figures []Figure `json:"figures"`
	Problem string   `json:"problem,omitempty"` // a run outside the conditions, or a constraint missed
}

// Run is what an arm was run with, and how far to trust it.
type Run struct {
	Scenario     string            `json:"scenario_sha256"` // of its first replication
	Upstream     spec.Upstream     `json:"upstream"`
	Accelerators int               `json:"accelerators"`
	Method       string            `json:"least_trusted_method"`
	Acceptance   []spec.ProfileUse `json:"acceptance,omitempty"`
	Validity     spec.Validity     `json:"validity"`
	Lanes        []Lane            `json:"lanes"`
	Extrapolated string            `json:"extrapolation,omitempty"` // why the arm is one; absent where its lane has points of G1 or G2
}

// Lane is what measured runs of one engine, model, chip and precision say.
type Lane struct {
	Name   string               `json:"name"`
	Grades map[record.Grade]int `json:"grades"` // points
	Errors []LaneError          `json:"errors"`
}

// LaneError is how far simulations of the lane are from its measurements.
type LaneError struct {
	Metric string        `json:"metric"`
	MAPE   record.Figure `json:"mape"`
}

// JSON is the document as people read it, and its one byte form.
func (r *Report) JSON() ([]byte, error) { return canon.Indent(r) }
