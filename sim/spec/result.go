package spec

import (
	"strings"
	"sync"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/sim/metric"
)

// ResultSchema is the id a result states.
const ResultSchema = "blis.result/1"

// Result is what one run gave. It holds no time of day and nothing of the
// machine: equal inputs give equal bytes.
type Result struct {
	Schema   string       `json:"schema"`
	Inputs   Inputs       `json:"inputs"`
	Accepted bool         `json:"accepted"` // false: a condition of the frame failed, and Figures is empty
	Failures []string     `json:"failures"` // which conditions, with the value reached
	Requests RequestCount `json:"requests"`
	Window   MeasuredSpan `json:"window"`
	Figures  []Figure     `json:"figures"`
	Withheld []Withheld   `json:"withheld"` // figures the run cannot support, with the reason
	Engines  []EngineRun  `json:"engines"`  // one an instance
	Settings []Setting    `json:"settings"` // as the engine resolved them
	Methods  []MethodUse  `json:"methods"`  // how prices were obtained, by share of priced time
	Parts    []Share      `json:"parts"`    // where simulated engine time went
	Validity Validity     `json:"validity"`
	Steady   *SteadyState `json:"steady_state,omitempty"`   // of a steady-state frame
	Random   string       `json:"random_input"`             // "none" or what is drawn
	Assumed  []string     `json:"assumed_inputs,omitempty"` // input models drawn from that rest on no stated source or fit
	Events   Events       `json:"events"`
}

// Inputs are everything that can change a byte of the Result (SIM-10).
type Inputs struct {
	Scenario       *Scenario `json:"scenario"`
	ScenarioSHA256 string    `json:"scenario_sha256"`
	Data           []Source  `json:"data"`           // catalog, registry, traces: where read, and their hash
	MetricsSHA256  string    `json:"metrics_sha256"` // of the definitions that the figures' ids name
	Upstream       Upstream  `json:"upstream"`
	// Acceptance profiles the engine was given, and how each was borrowed (D8).
	Acceptance []ProfileUse `json:"acceptance,omitempty"`
}

// ProfileUse is one speculative acceptance profile in use.
type ProfileUse struct {
	Target   string   `json:"target"`
	Drafter  string   `json:"drafter"`
	Workload string   `json:"workload"`
	Drafts   int      `json:"drafts"`
	Source   string   `json:"source"`
	Step     string   `json:"step"`              // "stated" by the scenario, "exact", or the borrowing step
	Differs  []string `json:"differs,omitempty"` // key fields in which the profile is another
}

// Source is data the run read.
type Source struct {
	Kind     string   `json:"kind"`   // "catalog", "registry", "trace"
	Origin   string   `json:"origin"` // "embedded" or the path as given
	Overlays []string `json:"overlays,omitempty"`
	SHA256   string   `json:"sha256"`
}

// Upstream is the engine release the run models.
type Upstream struct {
	Repository string `json:"repository"`
	Commit     string `json:"commit"`
	Version    string `json:"version"`
}

// RequestCount is conservation: Created counts arrivals at the generator, apart
// from Fates, and the fates of both phases add up to it.
type RequestCount struct {
	Created  int64 `json:"created"`
	Warmup   Fates `json:"warmup"`
	Measured Fates `json:"measured"`
	// Tokens of measured, completed requests.
	PromptTokens int64 `json:"prompt_tokens"`
	CachedTokens int64 `json:"cached_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	Preemptions  int64 `json:"preemptions"` // of measured requests, every fate
}

// Fates counts how requests ended. NotStarted are planned ones that were not sent, among
// them the rounds that a session gave up.
type Fates struct {
	Completed  int64        `json:"completed"`
	Dropped    int64        `json:"dropped"`
	TimedOut   int64        `json:"timed_out"`
	InFlight   int64        `json:"in_flight_at_horizon"`
	Queued     int64        `json:"queued_at_horizon"`
	NotStarted int64        `json:"not_started"`
	Reasons    []DropReason `json:"drop_reasons,omitempty"`
}

// DropReason counts dropped requests by reason.
type DropReason struct {
	Reason string `json:"reason"`
	Count  int64  `json:"count"`
}

// Total is every fate together.
func (f Fates) Total() int64 {
	return f.Completed + f.Dropped + f.TimedOut + f.InFlight + f.Queued + f.NotStarted
}

// MeasuredSpan is the window in simulated seconds.
type MeasuredSpan struct {
	Start float64 `json:"start_s"`
	End   float64 `json:"end_s"`
}

// Figure is a metric at a scope: "cluster", "instance:0", "class:NAME" or "tenant:NAME".
type Figure struct {
	Metric     string    `json:"metric"`
	Scope      string    `json:"scope"`
	Value      float64   `json:"value"`
	Unit       string    `json:"unit"`
	Count      int64     `json:"count"`      // samples of the statistic, or requests behind a ratio
	Unfinished int64     `json:"unfinished"` // requests of the population left out because they had not ended
	Interval   *Interval `json:"interval,omitempty"`
	NoInterval string    `json:"no_interval,omitempty"` // why there is none
}

// Interval is a confidence interval and what its width covers.
type Interval struct {
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Level  float64 `json:"level"`
	Covers string  `json:"covers"` // "replications", "batch means"
	Runs   int     `json:"runs"`
}

// Withheld is a figure the run does not support.
type Withheld struct {
	Metric string `json:"metric"`
	Scope  string `json:"scope"`
	Reason string `json:"reason"`
}

// EngineRun is what one instance did, warm-up included.
type EngineRun struct {
	Instance      int     `json:"instance"`
	Accelerators  int     `json:"accelerators"`
	KVBlocks      int     `json:"kv_blocks"`
	Steps         int64   `json:"steps"`
	EmptySteps    int64   `json:"empty_steps"` // idle or dummy steps the upstream runs
	Tokens        int64   `json:"tokens_scheduled"`
	Preemptions   int64   `json:"preemptions"`
	PrefixQueried int64   `json:"prefix_queried_tokens"`
	PrefixHit     int64   `json:"prefix_hit_tokens"`
	MaxKVUsage    float64 `json:"max_kv_usage"`
	MaxRunning    int     `json:"max_running"`
	MaxWaiting    int     `json:"max_waiting"`
	Busy          float64 `json:"busy_s"`        // at least one batch in flight
	MaxInFlight   int     `json:"max_in_flight"` // batches
}

// Setting is one resolved engine setting.
type Setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
	Why    string `json:"why,omitempty"`
}

// MethodUse is how much of the priced time rests on one method at worst.
type MethodUse struct {
	Method  string  `json:"method"`
	Steps   int64   `json:"steps"`
	Seconds float64 `json:"seconds"`
	Share   float64 `json:"share"`
}

// Share is one part of engine time: a step mode, or "idle".
type Share struct {
	Part    string  `json:"part"`
	Seconds float64 `json:"seconds"`
	Share   float64 `json:"share"`
}

// Validity says whether the scenario lies in the range of the held-out data (§8.9).
type Validity struct {
	Inside    string `json:"inside"` // "inside" or "outside"
	Statement string `json:"statement"`
}

// SteadyState is the detector's verdict on the measured window.
type SteadyState struct {
	State   string `json:"state"`   // "settled", "overloaded", "incomplete"
	Samples int    `json:"samples"` // of the backlog, at equal intervals until the last request was sent
	// FalseAlarm is the chance that a load without drift is called overloaded, and that
	// any of the series is said to show a trend when none has one, each at most.
	FalseAlarm float64 `json:"false_alarm"`
	// Power is the chance with which the window shows a growth of the backlog of GrowthFound
	// requests a second, and a series' halves that differ by its ShiftFound.
	Power       float64        `json:"power"`
	GrowthFound float64        `json:"growth_found_per_s"`
	Series      []SteadySeries `json:"series"` // the backlog first
	// Departures is whether the rate of completions shows no trend, so that an
	// overloaded run's throughput is its saturation throughput.
	Departures bool `json:"departures_steady"`
}

// SteadySeries is what the detector made of one series of the window: the backlog at
// equal intervals, or what completed requests saw, in order of their end.
type SteadySeries struct {
	Series     string  `json:"series"` // "backlog", "ttft", "tpot", "e2e", "prefix_hit_rate"
	Samples    int     `json:"samples"`
	Warmup     int     `json:"warmup_samples"`    // what MSER-5 leaves out at the start
	ShiftFound float64 `json:"shift_found"`       // share of the mean; 0 for a series too short
	Problem    string  `json:"problem,omitempty"` // why the run is not settled
}

// Events counts the kernel's work; it is part of the Result because it is
// deterministic, and a change to it is a change to look at.
type Events struct {
	Transitions int64 `json:"transitions"`
	Messages    int64 `json:"messages"`
}

// MetricsSHA256 identifies the definitions of every metric of this build: the SHA-256 of
// their canonical JSON.
var MetricsSHA256 = sync.OnceValues(func() (string, error) { return canon.Hash(metric.All()) })

// Figure returns a figure by metric id at a scope.
func (r *Result) Figure(id, scope string) (f Figure, ok bool) {
	for _, f := range r.Figures {
		if f.Metric == id && f.Scope == scope {
			return f, true
		}
	}
	return Figure{}, false
}

// Drawn is whether the run has random input, so that another seed gives another run.
func (r *Result) Drawn() bool { return !strings.HasPrefix(r.Random, "none") }

// JSON is the document's one byte form.
func (r *Result) JSON() ([]byte, error) { return canon.JSON(r) }

// Check refuses a result whose requests do not add up (DEV-9).
func (r *Result) Check() error {
	q := r.Requests
	if sum := q.Warmup.Total() + q.Measured.Total(); sum != q.Created {
		return &diag.Refusal{Field: "requests", Problem: "fates do not add up to the requests created", Rule: "DEV-9"}
	}
	if !r.Accepted && len(r.Figures) > 0 {
		return &diag.Refusal{Field: "figures", Problem: "stand in a result whose frame was not met", Rule: "DEV-7"}
	}
	return nil
}
