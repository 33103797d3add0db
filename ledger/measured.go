package ledger

import (
	"fmt"
	"math"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// Percentiles of a latency over requests, in milliseconds, as the client computed
// them; a null is one the source does not record.
type Percentiles struct {
	P50 *float64 `json:"p50,omitempty"`
	P90 *float64 `json:"p90,omitempty"`
	P95 *float64 `json:"p95,omitempty"`
	P99 *float64 `json:"p99,omitempty"`
}

// Totals is what the client counted over the measured requests.
type Totals struct {
	Completed    int64   `json:"completed"`
	PromptTokens int64   `json:"prompt_tokens"`
	OutputTokens int64   `json:"output_tokens"`
	DurationS    float64 `json:"duration_s"`
	// Concurrency is the mean number of requests under way by Little's law:
	// completed requests a second times their mean end-to-end latency. Null when
	// the source records no end-to-end latency.
	Concurrency *float64 `json:"achieved_concurrency,omitempty"`
}

// Metrics lists the ids of the metric registry that a measurement may hold.
func Metrics() []string {
	ids := make([]string, len(values))
	for i, v := range values {
		ids[i] = v.id
	}
	return ids
}

var values = []struct {
	id   string
	read func(*Measurement) *float64
}{
	{"ttft_mean", func(m *Measurement) *float64 { return &m.TTFTMeanMS }},
	{"tpot_mean", func(m *Measurement) *float64 { return &m.TPOTMeanMS }},
	{"ttft_p50", func(m *Measurement) *float64 { return m.TTFT.or().P50 }},
	{"ttft_p90", func(m *Measurement) *float64 { return m.TTFT.or().P90 }},
	{"ttft_p99", func(m *Measurement) *float64 { return m.TTFT.or().P99 }},
	{"tpot_p50", func(m *Measurement) *float64 { return m.TPOT.or().P50 }},
	{"tpot_p90", func(m *Measurement) *float64 { return m.TPOT.or().P90 }},
	{"tpot_p99", func(m *Measurement) *float64 { return m.TPOT.or().P99 }},
}

func (p *Percentiles) or() *Percentiles {
	if p == nil {
		return new(Percentiles)
	}
	return p
}

// Value is a measured metric in seconds; ok is false where it is not recorded.
func (m *Measurement) Value(id string) (seconds float64, ok bool) {
	for _, v := range values {
		if v.id == id {
			if ms := v.read(m); ms != nil && *ms > 0 {
				return *ms / 1000, true
			}
		}
	}
	return 0, false
}

// Measured is the mean of a metric over the measurements of u, in seconds; ok is
// false unless every one records it (COV-10).
func (u *Unit) Measured(id string) (seconds float64, ok bool) {
	for i := range u.Measurements {
		v, ok := u.Measurements[i].Value(id)
		if !ok {
			return 0, false
		}
		seconds += v
	}
	return seconds / float64(len(u.Measurements)), len(u.Measurements) > 0
}

// AchievedConcurrency is the mean achieved concurrency of the measurements of u; ok is
// false unless every one records it.
func (u *Unit) AchievedConcurrency() (mean float64, ok bool) {
	for _, m := range u.Measurements {
		if m.Totals == nil || m.Totals.Concurrency == nil {
			return 0, false
		}
		mean += *m.Totals.Concurrency
	}
	return mean / float64(len(u.Measurements)), len(u.Measurements) > 0
}

// Unmeasured is u without any measured value: what may be shown to a program that
// must not read one. It shares everything else with u.
func (u *Unit) Unmeasured() *Unit {
	blind := *u
	blind.Measurements = make([]Measurement, len(u.Measurements))
	for i, m := range u.Measurements {
		blind.Measurements[i] = Measurement{Configuration: m.Configuration, Records: m.Records}
	}
	return &blind
}

func (p *Percentiles) check(field string) error {
	last := 0.0
	for _, v := range []struct {
		name string
		ms   *float64
	}{{"p50", p.or().P50}, {"p90", p.or().P90}, {"p95", p.or().P95}, {"p99", p.or().P99}} {
		if v.ms == nil {
			continue
		}
		if !(*v.ms > 0) || math.IsInf(*v.ms, 0) || *v.ms < last {
			return &diag.Refusal{Field: field + "." + v.name, Value: fmt.Sprint(*v.ms), Problem: "is not a percentile of a latency", Accept: "milliseconds above 0, none below a lower percentile"}
		}
		last = *v.ms
	}
	return nil
}

func (t *Totals) check() error {
	if t == nil {
		return nil
	}
	switch {
	case t.Completed < 1 || t.PromptTokens < 1 || t.OutputTokens < 1:
		return &diag.Refusal{Field: "totals", Value: fmt.Sprintf("%d requests, %d and %d tokens", t.Completed, t.PromptTokens, t.OutputTokens), Problem: "counts nothing", Accept: "counts of at least 1"}
	case !(t.DurationS > 0) || math.IsInf(t.DurationS, 0):
		return &diag.Refusal{Field: "totals.duration_s", Value: fmt.Sprint(t.DurationS), Problem: "is not a duration", Accept: "seconds above 0"}
	case t.Concurrency != nil && (!(*t.Concurrency > 0) || math.IsInf(*t.Concurrency, 0)):
		return &diag.Refusal{Field: "totals.achieved_concurrency", Value: fmt.Sprint(*t.Concurrency), Problem: "is not a concurrency", Accept: "requests above 0"}
	}
	return nil
}
