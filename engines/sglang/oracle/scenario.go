package oracle

// This file is the project's own: it reads recordings.

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/sglang/kv"
	"github.com/inference-sim/accuracy-dashboard/engines/sglang/sched"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/replay"
)

// scenario is a trace's input: what the recorder drove the real scheduler with.
type scenario struct {
	Name          string         `json:"name"`
	Note          string         `json:"note"`
	MaxIterations int            `json:"max_iterations"`
	Config        config         `json:"config"`
	Requests      []request      `json:"requests"`
	Aborts        []abort        `json:"aborts"`
	Env           map[string]any `json:"env"`
	KVFull        bool           `json:"kv_full"`
	Detail        string         `json:"detail"`
	RecordQueue   bool           `json:"record_queue"`
}

// config are the server arguments and sizes a scenario sets.
type config struct {
	MaxTotal      int     `json:"max_total_num_tokens"`
	MaxRunning    int     `json:"max_running_requests"`
	ContextLen    int     `json:"context_len"`
	Chunk         int     `json:"chunked_prefill_size"`
	MaxPrefill    int     `json:"max_prefill_tokens"`
	Policy        string  `json:"schedule_policy"`
	Page          int     `json:"page_size"`
	Conservative  float64 `json:"schedule_conservativeness"`
	Mixed         bool    `json:"enable_mixed_chunk"`
	Overlap       bool    `json:"overlap"`
	Tree          string  `json:"tree"`
	Eviction      string  `json:"radix_eviction_policy"`
	KVEvents      *bool   `json:"kv_events"`
	MaxQueued     int     `json:"max_queued_requests"`
	DisableRadix  bool    `json:"disable_radix_cache"`
	PrefillMax    int     `json:"prefill_max_requests"`
	DecodeCredits int     `json:"prefill_decode_interval"`
	Priorities    bool    `json:"enable_priority_scheduling"`
	LowFirst      bool    `json:"schedule_low_priority_values_first"`
	NoPreemption  bool    `json:"disable_priority_preemption"`
	PreemptThresh *int    `json:"priority_scheduling_preemption_threshold"`
	Seed          *uint32 `json:"random_seed"`
}

type request struct {
	RID       string    `json:"rid"`
	Arrive    int       `json:"arrive"`
	Prompt    []segment `json:"prompt"`
	MaxNew    int       `json:"max_new_tokens"`
	EOSAt     *int      `json:"eos_at"`
	IgnoreEOS bool      `json:"ignore_eos"`
	Priority  *int      `json:"priority"`
	ExtraKey  string    `json:"extra_key"`
	Salt      string    `json:"cache_salt"`
}

type abort struct {
	At  int    `json:"at"`
	RID string `json:"rid"`
	All bool   `json:"all"`
}

// segment is [seed, start, n] or {"after": rid, "outputs": n}.
type segment struct {
	Seed, Start, N int
	After          string
	Outputs        int
}

// UnmarshalJSON takes both forms and nothing else.
func (s *segment) UnmarshalJSON(data []byte) error {
	var triple []int
	if err := json.Unmarshal(data, &triple); err == nil {
		if len(triple) != 3 {
			return fmt.Errorf("segment %s: want [seed, start, n]", data)
		}
		s.Seed, s.Start, s.N = triple[0], triple[1], triple[2]
		return nil
	}
	var after struct {
		After   string `json:"after"`
		Outputs int    `json:"outputs"`
	}
	if err := json.Unmarshal(data, &after); err != nil || after.After == "" {
		return fmt.Errorf("segment %s: want [seed, start, n] or {after, outputs}", data)
	}
	s.After, s.Outputs = after.After, after.Outputs
	return nil
}

// eosToken ends a request; the recorder's scripted outputs hold it at eos_at.
const eosToken = 2

// output is scripted output p of a request.
func (r *request) output(p int) uint32 {
	if r.EOSAt != nil && p == *r.EOSAt {
		return eosToken
	}
	sum := 0
	for i, c := range []rune(r.RID) {
		sum += int(c) * (i + 7)
	}
	h := uint32(uint64(sum)*1315423911 + uint64(p)*2654435761)
	return 1000 + h%90000
}

// token is one token as a run of its own: its stream is its id, so equal ids are
// equal tokens whatever prompt they stand in.
func token(id uint32) engines.Segment { return engines.Segment{Stream: uint64(id), Count: 1} }

// prompts builds every request's token list; one may continue another.
func (s *scenario) prompts() (map[string][]engines.Segment, error) {
	byID := map[string]*request{}
	for i := range s.Requests {
		byID[s.Requests[i].RID] = &s.Requests[i]
	}
	done := map[string][]engines.Segment{}
	var build func(r *request, depth int) ([]engines.Segment, error)
	build = func(r *request, depth int) ([]engines.Segment, error) {
		if p, ok := done[r.RID]; ok {
			return p, nil
		}
		var out []engines.Segment
		for _, seg := range r.Prompt {
			if seg.After == "" {
				for i := seg.Start; i < seg.Start+seg.N; i++ {
					out = append(out, token(uint32(3+(seg.Seed*1000003+i*7919+17)%100000)))
				}
				continue
			}
			prior := byID[seg.After]
			if prior == nil || depth > len(s.Requests) {
				return nil, &diag.Refusal{Field: "input.requests." + r.RID, Value: seg.After, Problem: "continues a request that is not there"}
			}
			head, err := build(prior, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, head...)
			for p := range seg.Outputs {
				out = append(out, token(prior.output(p)))
			}
		}
		if err := replay.Within(replay.Limit{Field: "input.requests." + r.RID + ".prompt", Value: len(out), Least: 1, Most: replay.Most}); err != nil {
			return nil, err
		}
		done[r.RID] = out
		return out, nil
	}
	for i := range s.Requests {
		if _, err := build(&s.Requests[i], 0); err != nil {
			return nil, err
		}
	}
	return done, nil
}

// unset is the priority of a request without one: the last to be served.
const unset = 1 << 40

func (s *scenario) req(r *request, prompt []engines.Segment) *sched.Req {
	q := &sched.Req{
		Name: r.RID, Prompt: prompt, Input: len(prompt), MaxNew: r.MaxNew, IgnoreEOS: r.IgnoreEOS,
		Ns: kv.Namespace{Extra: r.ExtraKey, Salt: r.Salt}, Next: func(j int) engines.Segment { return token(r.output(j)) },
	}
	if r.EOSAt != nil {
		q.StopAt = *r.EOSAt + 1
	}
	switch {
	case r.Priority != nil:
		q.Priority = *r.Priority
	case s.Config.Priorities && s.Config.LowFirst:
		q.Priority = unset
	case s.Config.Priorities:
		q.Priority = -unset
	}
	return q
}

// indifferent variables change no recorded value: one tree serves both names, and a
// batch that waits for the one before it has been formed already.
var indifferent = map[string]bool{"SGLANG_ENABLE_UNIFIED_RADIX_TREE": true, "SGLANG_DISABLE_CONSECUTIVE_PREFILL_OVERLAP": true}

func (s *scenario) schedConfig() (sched.Config, error) {
	c := s.Config
	out := sched.Config{
		TotalTokens: c.MaxTotal, MaxRunning: c.MaxRunning, ContextLen: c.ContextLen, ChunkSize: c.Chunk, MaxPrefill: c.MaxPrefill,
		PageSize: c.Page, Policy: sched.Policy(c.Policy), Conservative: c.Conservative, MixedChunk: c.Mixed, Overlap: c.Overlap,
		MaxQueued: c.MaxQueued, PrefillMax: c.PrefillMax, DecodeCredits: c.DecodeCredits, Tuning: sched.Untuned(), Seed: 1,
		Priorities: c.Priorities, LowFirst: c.LowFirst, NoPreemption: c.NoPreemption, PreemptThreshold: 10, DecodeLogInterval: 40,
	}
	if c.PreemptThresh != nil {
		out.PreemptThreshold = *c.PreemptThresh
	}
	if c.Seed != nil {
		out.Seed = *c.Seed
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		value := fmt.Sprint(s.Env[name])
		known, err := out.Set(name, value)
		if (!known && !indifferent[name]) || err != nil {
			return out, &diag.Refusal{Field: "input.env." + name, Value: value, Problem: "is a variable or a value the replay does not know"}
		}
	}
	return out, nil
}
