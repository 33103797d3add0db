package config

import "slices"

var asyncMethods = []string{"eagle", "eagle3", "mtp", "ngram_gpu", "draft_model", "dspark"}

func speculativeConfig(r *reader, _ environment) error {
	m := r.object("speculative_config")
	if err := r.done(); err != nil || m == nil {
		return err
	}
	s := &Speculative{}
	read := &reader{c: &Config{Sources: map[string]Source{}}, args: m}
	read.text("method", &s.Method)
	read.text("model", &s.Model)
	k := read.optional("num_speculative_tokens", bound{"gt", 0})
	lo, hi := read.optional("prompt_lookup_min", bound{"ge", 1}), read.optional("prompt_lookup_max", bound{"ge", 1})
	read.boolean("disable_padded_drafter_batch", &s.UnpaddedDrafts)
	read.boolean("parallel_drafting", &s.ParallelDrafting)
	if err := read.done(); err != nil {
		return err
	}
	if s.Method == "" && s.Model == "ngram" {
		s.Method = "ngram"
	}
	if s.Method == "ngram" || s.Method == "ngram_gpu" {
		if err := s.lookup(lo, hi); err != nil {
			return err
		}
	}
	if n := r.c.Model.Predictors; k == nil && s.Method == "mtp" && n > 0 {
		k = &n
	}
	if k == nil {
		return reject("num_speculative_tokens must be provided with speculative model unless the draft model config contains an n_predict parameter.")
	}
	s.Tokens = *k
	r.c.Spec = s
	return nil
}

// lookup fills the n-gram window: each end defaults to the other, both to 5.
func (s *Speculative) lookup(lo, hi *int) error {
	s.LookupMin, s.LookupMax = 5, 5
	switch {
	case lo != nil && hi != nil:
		s.LookupMin, s.LookupMax = *lo, *hi
	case lo != nil:
		s.LookupMin, s.LookupMax = *lo, *lo
	case hi != nil:
		s.LookupMin, s.LookupMax = *hi, *hi
	}
	if s.LookupMin > s.LookupMax {
		return reject("prompt_lookup_min=%d must be <= prompt_lookup_max=%d", s.LookupMin, s.LookupMax)
	}
	return nil
}

// async resolves async_scheduling (vllm.py:1227-1307).
func (c *Config) async(stated *bool, env environment) error {
	drafts := c.Spec == nil || slices.Contains(asyncMethods, c.Spec.Method)
	executor := c.Executor != "ray" || env.flag("VLLM_USE_RAY_V2_EXECUTOR_BACKEND", true)
	if stated != nil {
		c.Async = *stated
		if *stated && !drafts {
			return reject("Currently, async scheduling is only supported with EAGLE/MTP/Draft Model/NGram GPU/DSpark kind of speculative decoding")
		}
		return nil
	}
	unpadded := c.Spec != nil && c.Spec.UnpaddedDrafts
	c.Async = c.Runner != "pooling" && drafts && !unpadded && executor
	c.note("async_scheduling", Rule, "on unless pooling, an unsupported draft method or an executor without support")
	return nil
}
