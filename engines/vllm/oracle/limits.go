package oracle

// This file is the project's own: it reads recordings.

import (
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/replay"
)

var layerKinds = []string{"full", "sliding", "chunked_local", "mamba"}

var draftMethods = []string{"ngram", "ngram_gpu", "eagle", "eagle3", "mtp", "draft_model", "dflash", "dspark"}

// alone refuses a recording of one part of vLLM driven without an engine.
func alone(scenario any) error {
	s, ok := scenario.(map[string]any)
	if !ok {
		return &diag.Refusal{Field: "scenario", Problem: "is missing or no object", Accept: "the recorded run's input"}
	}
	if kind, found := s["kind"]; found {
		return &diag.Refusal{Field: "scenario.kind", Value: fmt.Sprint(kind), Problem: fmt.Sprintf("drives %v alone, not an engine", s["target"]), Accept: "left out"}
	}
	return nil
}

// check refuses what no recorder could have played.
func (s *scenario) check() error {
	if err := replay.Within(replay.Limit{Field: "scenario.max_steps", Value: s.MaxSteps, Most: replay.Most}); err != nil {
		return err
	}
	for i := range s.Requests {
		r, at := &s.Requests[i], fmt.Sprintf("scenario.requests[%d].", i)
		tokens := 0
		for _, p := range r.Prompt {
			if err := replay.Within(replay.Limit{Field: at + "prompt", Value: p.count, Most: replay.Most}); err != nil {
				return err
			}
			tokens += p.count
		}
		if err := replay.Within(
			replay.Limit{Field: at + "prompt", Value: tokens, Least: 1, Most: replay.Most},
			replay.Limit{Field: at + "max_tokens", Value: r.MaxTokens, Least: 1, Most: replay.Most},
			replay.Limit{Field: at + "min_tokens", Value: r.MinTokens, Most: replay.Most},
			replay.Limit{Field: at + "output_len", Value: r.OutputLen, Most: replay.Most},
			replay.Limit{Field: at + "arrival_step", Value: r.ArrivalStep, Most: replay.Most},
		); err != nil {
			return err
		}
		if r.AbortStep != nil {
			if _, err := replay.Choice(at+"abort_phase", r.AbortPhase, "before", "during", ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// check refuses settings the recorder's engine cannot have had; vLLM's own start-up
// rules are the scheduler's.
func (c *settings) check() error {
	const at = "scenario.config."
	limits := []replay.Limit{
		{Field: at + "block_size", Value: c.BlockSize, Least: 1, Most: replay.Most},
		{Field: at + "num_gpu_blocks", Value: c.NumGPUBlocks, Least: 1, Most: replay.Most},
		{Field: at + "max_num_seqs", Value: c.MaxNumSeqs, Most: replay.Most},
		{Field: at + "max_model_len", Value: c.MaxModelLen, Most: replay.Most},
		{Field: at + "pipeline_parallel_size", Value: c.PipelineParallelSize, Least: 1, Most: 1024},
		{Field: at + "long_prefill_token_threshold", Value: c.LongPrefillTokenThreshold, Most: replay.Most},
		{Field: at + "prefill_schedule_interval", Value: c.PrefillInterval, Most: replay.Most},
	}
	for i, l := range c.Layers {
		windowed := 0
		if l.kind == "sliding" || l.kind == "chunked_local" {
			windowed = 1
		}
		limits = append(limits,
			replay.Limit{Field: fmt.Sprintf("%slayers[%d].count", at, i), Value: l.count, Least: 1, Most: 1 << 16},
			replay.Limit{Field: fmt.Sprintf("%slayers[%d].window", at, i), Value: l.window, Least: windowed, Most: replay.Most},
			replay.Limit{Field: fmt.Sprintf("%slayers[%d].head_size", at, i), Value: l.headSize, Least: 1, Most: 1 << 16})
	}
	if w := c.Watermark; !(w >= 0 && w <= 1) {
		return &diag.Refusal{Field: at + "watermark", Value: fmt.Sprint(w), Problem: "is out of range", Accept: "a share of the pool, 0 to 1"}
	}
	if err := replay.Within(limits...); err != nil || c.Speculative == nil {
		return err
	}
	return c.Speculative.check(at + "speculative.")
}

func (d *drafter) check(at string) error {
	if _, err := replay.Choice(at+"method", d.Method, draftMethods...); err != nil {
		return err
	}
	limits := []replay.Limit{{Field: at + "num_speculative_tokens", Value: d.Tokens, Least: 1, Most: 1024}}
	if len(d.Accept) == 0 {
		return &diag.Refusal{Field: at + "accept", Problem: "is empty or missing", Accept: "how many drafts each verification accepted, in turn"}
	}
	for i, n := range d.Accept {
		limits = append(limits, replay.Limit{Field: fmt.Sprintf("%saccept[%d]", at, i), Value: n, Most: 1024})
	}
	for i, n := range d.DraftLen {
		limits = append(limits, replay.Limit{Field: fmt.Sprintf("%sdraft_len[%d]", at, i), Value: n, Most: 1024})
	}
	return replay.Within(limits...)
}
