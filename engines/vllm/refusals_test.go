package vllm

import (
	"errors"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/enginetest"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/kv"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// Values of one setting, and settings that contradict each other, with the closest that
// start up.
func TestRefusalPairsOfValues(t *testing.T) {
	keep.Rule(t, "SIM-9", "X1")
	type settings = map[string]any
	k, w := newKind(t), newWorld(t)
	sizes := func(n ...any) []any { return n }
	for _, c := range []struct {
		refused, accepted settings
		want              string
	}{
		{settings{"compilation-config": settings{"mode": 9}}, settings{"compilation-config": settings{"mode": 3}}, "engine.args.compilation-config.mode: 9: is outside the values modelled here"},
		{settings{"compilation-config": settings{"mode": "FAST"}}, settings{"compilation-config": settings{"mode": "VLLM_COMPILE"}}, "FAST"},
		{settings{"compilation-config": settings{"cudagraph_mode": "HALF"}}, settings{"compilation-config": settings{"cudagraph_mode": "FULL"}}, "HALF"},
		{settings{"max-cudagraph-capture-size": 8, "compilation-config": settings{"max_cudagraph_capture_size": 8}}, settings{"max-cudagraph-capture-size": 8},
			"max_cudagraph_capture_size and compilation_config.max_cudagraph_capture_size are mutually exclusive"},
		{settings{"max-cudagraph-capture-size": 8, "cudagraph-capture-sizes": sizes(1, 2, 4)}, settings{"max-cudagraph-capture-size": 4, "cudagraph-capture-sizes": sizes(1, 2, 4)},
			"customized max_cudagraph_capture_size(=8) should be consistent with the max value of cudagraph_capture_sizes(=4)"},
		{settings{"max-num-seqs": 8, "max_num_seqs": 8}, settings{"max_num_seqs": 8}, "is given twice"},
		{settings{"compilation-config": 3, "compilation-config.mode": 3}, settings{"compilation-config.mode": 3}, "compilation_config: 3 is not an object and cannot take .mode"},
		{settings{"long-prefill-token-threshold": 1025, "max-model-len": 1024}, settings{"long-prefill-token-threshold": 1024, "max-model-len": 1024},
			"long_prefill_token_threshold (1025) cannot be greater than the max_model_len (1024)."},
		{settings{"moe-backend": "marlin_no"}, settings{"moe-backend": "marlin"}, "moe-backend"},
		{settings{"decode-context-parallel-size": 2, "tensor-parallel-size": 2}, settings{"decode-context-parallel-size": 1, "tensor-parallel-size": 2}, "context parallel"},
	} {
		_, _, err := k.Explain(with(gptoss, c.refused), w)
		if r, ok := errors.AsType[*diag.Refusal](err); !ok || !strings.Contains(r.Error(), c.want) {
			t.Errorf("%v: got %v, want a refusal with %q", c.refused, err, c.want)
		}
		if _, _, err := k.Explain(with(gptoss, c.accepted), w); err != nil {
			t.Errorf("%v: got %v, want accepted", c.accepted, err)
		}
	}
}

// What would be accepted is said once, and in words that stand alone.
func TestRefusalNamesWhatIsAccepted(t *testing.T) {
	keep.Rule(t, "SIM-9")
	k, w := newKind(t), newWorld(t)
	for _, c := range []struct {
		name  string
		value any
		want  string
	}{
		{"tensor-parallel-size", "two", "a valid integer"},
		{"max-model-len", "8k", "a valid integer: 8000, as the command line alone reads 8k"},
		{"max-num-seqs", 0, "a value greater than or equal to 1"},
	} {
		_, _, err := k.Explain(with(gptoss, map[string]any{c.name: c.value}), w)
		if r, ok := errors.AsType[*diag.Refusal](err); !ok || r.Accept != c.want {
			t.Errorf("%s: got %#v, want accepted: %q", c.name, err, c.want)
		}
	}
}

// Variables that upstream reads as numbers.
func TestRefusalPairsOfVariables(t *testing.T) {
	keep.Rule(t, "SIM-9", "X1")
	k, w := newKind(t), newWorld(t)
	for _, c := range []struct{ name, refused, accepted, want string }{
		{"VLLM_PP_LAYER_PARTITION", "20,16.0", "20,16", "Invalid partition string: 20,16.0"},
	} {
		s := with(gptoss, map[string]any{"pipeline-parallel-size": 2})
		for value, want := range map[string]string{c.refused: c.want, c.accepted: ""} {
			s.Env = map[string]string{c.name: value}
			if _, _, err := k.Explain(s, w); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s=%s: got %v, want %q", c.name, value, err, want)
			}
		}
	}
}

// The front end's own refusals of a request, at the edge of each.
func TestRejections(t *testing.T) {
	keep.Rule(t, "SIM-9")
	s := enginetest.Setup{Blocks: 40, BlockTokens: 4, MaxSeqs: 4, StepTokens: 64, MaxLength: 100, Pipeline: 1, Shape: "full"}
	e, err := build(s)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		prompt, most, least int
		want                string
	}{
		{0, 5, 0, "The decoder prompt cannot be empty"}, {1, 5, 0, ""},
		{101, 5, 0, "The decoder prompt (length 101) is longer than the maximum model length of 100."},
		{100, 5, 0, "The decoder prompt (length 100) plus the number of requested output tokens (at least 1) is longer than the maximum model length of 100."},
		{99, 5, 0, ""},
		{50, -1, 0, "max_tokens must be at least 1, got -1."}, {50, 0, 0, ""}, {50, 1, 0, ""},
		{50, 5, 6, "min_tokens must be less than or equal to max_tokens=5, got 6."}, {50, 5, 5, ""},
		{50, 60, 51, "min_tokens must be less than or equal to max_tokens=50, got 51."}, {50, 60, 50, ""},
	} {
		r := &engines.Request{ID: engines.RequestID(i + 1), MaxTokens: c.most, MinTokens: c.least}
		if c.prompt > 0 {
			r.Prompt = []engines.Segment{{Stream: 1, Count: c.prompt}}
		}
		got := ""
		if no := e.Submit(r); no != nil {
			got = no.Reason
		}
		if got != c.want {
			t.Errorf("%d tokens and %d to %d to come: got %q, want %q", c.prompt, c.least, c.most, got, c.want)
		}
	}
}

// Layers that no cache could be grouped from.
func TestLayersThatKeepNoCacheAreRefused(t *testing.T) {
	keep.Rule(t, "SIM-9")
	full := kv.GroupSpec{Kind: kv.Full, BlockSize: 16, PageBytes: 512}
	for _, c := range []struct {
		layers []kv.Layer
		want   string
	}{
		{nil, "no layer keeps a KV cache"},
		{[]kv.Layer{{Spec: full, Count: 0}}, "a run of layers must hold at least one"},
		{[]kv.Layer{{Spec: full, Count: 1}}, ""},
	} {
		if _, err := kv.Group(c.layers, false); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q", c.layers, err, c.want)
		}
	}
}
