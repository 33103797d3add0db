package oracle

// This file is the project's own: it reads recordings.

import (
	"fmt"
	"math"

	"github.com/inference-sim/accuracy-dashboard/engines/sglang/sched"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/replay"
)

// check refuses what no recorder could have played.
func (s *scenario) check() error {
	if err := s.Config.check(); err != nil {
		return err
	}
	limits := []replay.Limit{{Field: "input.max_iterations", Value: s.MaxIterations, Least: 1, Most: replay.Most}}
	for i, r := range s.Requests {
		at := fmt.Sprintf("input.requests[%d].", i)
		limits = append(limits,
			replay.Limit{Field: at + "arrive", Value: r.Arrive, Most: replay.Most},
			replay.Limit{Field: at + "max_new_tokens", Value: r.MaxNew, Most: math.MaxInt32})
		for j, p := range r.Prompt {
			limits = append(limits,
				replay.Limit{Field: fmt.Sprintf("%sprompt[%d]", at, j), Value: p.N, Most: replay.Most},
				replay.Limit{Field: fmt.Sprintf("%sprompt[%d].outputs", at, j), Value: p.Outputs, Most: replay.Most})
		}
		if r.EOSAt != nil {
			limits = append(limits, replay.Limit{Field: at + "eos_at", Value: *r.EOSAt, Most: math.MaxInt32})
		}
	}
	for i, a := range s.Aborts {
		limits = append(limits, replay.Limit{Field: fmt.Sprintf("input.aborts[%d].at", i), Value: a.At, Most: replay.Most})
	}
	return replay.Within(limits...)
}

// check refuses settings the recorder's engine cannot have had.
func (c *config) check() error {
	const at = "input.config."
	if _, err := replay.Choice(at+"tree", c.Tree, "radix", "unified"); err != nil {
		return err
	}
	policies := make([]string, 0, len(sched.Policies()))
	for _, p := range sched.Policies() {
		policies = append(policies, string(p))
	}
	if _, err := replay.Choice(at+"schedule_policy", c.Policy, policies...); err != nil {
		return err
	}
	if r := c.Conservative; !(r >= 0 && r <= math.MaxFloat32) {
		return &diag.Refusal{Field: at + "schedule_conservativeness", Value: fmt.Sprint(r), Problem: "is out of range", Accept: "a finite number >= 0"}
	}
	return replay.Within(
		replay.Limit{Field: at + "max_total_num_tokens", Value: c.MaxTotal, Least: 1, Most: replay.Most},
		replay.Limit{Field: at + "page_size", Value: c.Page, Least: 1, Most: replay.Most},
		replay.Limit{Field: at + "max_running_requests", Value: c.MaxRunning, Least: 1, Most: replay.Most},
		replay.Limit{Field: at + "context_len", Value: c.ContextLen, Least: 1, Most: math.MaxInt32},
		replay.Limit{Field: at + "chunked_prefill_size", Value: c.Chunk, Least: -1, Most: math.MaxInt32},
		replay.Limit{Field: at + "max_prefill_tokens", Value: c.MaxPrefill, Least: 1, Most: math.MaxInt32},
		replay.Limit{Field: at + "max_queued_requests", Value: c.MaxQueued, Most: math.MaxInt32},
		replay.Limit{Field: at + "prefill_max_requests", Value: c.PrefillMax, Most: math.MaxInt32},
		replay.Limit{Field: at + "prefill_decode_interval", Value: c.DecodeCredits, Most: math.MaxInt32},
	)
}
