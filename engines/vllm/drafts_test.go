package vllm

import (
	"bytes"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/enginetest"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
	"github.com/inference-sim/accuracy-dashboard/internal/substream"
)

func drafting(s engines.Spec, method string, tp int) engines.Spec {
	s.Args = map[string]any{"tensor-parallel-size": tp, "speculative-config": map[string]any{"method": method, "num_speculative_tokens": 3}}
	return s
}

// A drafter whose layers the catalog has is priced; any other is refused by name.
func TestADrafterIsPricedOrRefused(t *testing.T) {
	k, w := newKind(t), newWorld(t)
	for _, c := range []struct {
		spec   engines.Spec
		method string
		tp     int
		refuse string
	}{
		{deepseek, "mtp", 8, ""},
		{minimax, "mtp", 4, ""},
		{llama, "ngram", 1, ""},
		{llama, "mtp", 1, "in no catalog entry"},
		{deepseek, "eagle3", 8, "outside the values modelled"},
		{deepseek, "draft_model", 8, "outside the values modelled"},
	} {
		x, err := k.prepare(drafting(c.spec, c.method, c.tp), w)
		if c.refuse != "" {
			if err == nil || !strings.Contains(err.Error(), c.refuse) || !strings.Contains(err.Error(), c.method) {
				t.Errorf("%s with %s: got %v, want a refusal that says %q", c.spec.Model, c.method, err, c.refuse)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s with %s: %v", c.spec.Model, c.method, err)
			continue
		}
		if priced := len(x.plan.DraftLayers) > 0; priced != (c.method == "mtp") {
			t.Errorf("%s with %s: got %d draft layers", c.spec.Model, c.method, len(x.plan.DraftLayers))
		}
	}
}

// The head's modules are resident and keep a cache beside the model's layers; each
// pass runs one of them, with the kernels its own storage takes.
func TestThePredictionHeadIsLowered(t *testing.T) {
	k, w := newKind(t), newWorld(t)
	m, err := w.Model("minimax-m2.5")
	if err != nil {
		t.Fatal(err)
	}
	spec := minimax
	plain := spec
	plain.Args = map[string]any{"tensor-parallel-size": 4}
	without, err := k.prepare(plain, w)
	if err != nil {
		t.Fatal(err)
	}
	with, err := k.prepare(drafting(spec, "mtp", 4), w)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := with.plan.KV[0].Layers-without.plan.KV[0].Layers, 3; got != want {
		t.Errorf("KV layers: got %d more, want %d, one a module", got, want)
	}
	if got := with.schedule().Speculative; got.Modules != 3 || got.PrefillLookahead() != 3 {
		t.Errorf("got %+v, want three modules that look three tokens ahead", got)
	}
	var head, want quantity.Bytes
	for _, r := range with.plan.Weights {
		if strings.HasPrefix(r.Name, "mtp.") {
			head += r.Bytes
		}
	}
	for t := range m.Graph.Tensors() {
		if !t.MTP {
			continue
		}
		b := quantity.Bytes(float64(m.Checkpoints[0].Storage.Format(t.Class, true).Stored(t.Rows, t.Cols)) * float64(t.Count))
		switch t.Class { // what every rank keeps whole
		case catalog.MTPProjection, catalog.Norm, catalog.Router:
			want += b
		default:
			want += b / 4
		}
	}
	if ratio := float64(head / want); ratio < 0.99 || ratio > 1.01 {
		t.Errorf("head: got %v a rank, want %v", head, want)
	}
	experts := func(s engines.Spec) (kernel string) {
		x, err := k.prepare(drafting(s, "mtp", 8), w)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range x.plan.DraftLayers {
			if l.Primitive == plan.GroupedGEMM {
				kernel = l.Kernel.Variant
			}
		}
		return kernel
	}
	fp4 := engines.Spec{Model: "deepseek-r1", Checkpoint: "nvidia/DeepSeek-V3.1-NVFP4", Hardware: "b200_sxm"}
	if got, want := experts(fp4), "unquantizedfusedmoe"; !strings.Contains(got, want) {
		t.Errorf("a BF16 head of an FP4 checkpoint: got %s, want %s", got, want)
	}
}

// A request's drafts are accepted alike whatever else the engine does, and otherwise for
// another request. A position's number is its own, however many are drafted.
func TestARequestBringsWhatIsAccepted(t *testing.T) {
	keep.Rule(t, "DEV-6")
	base := enginetest.Setup{Blocks: 200, BlockTokens: 16, MaxSeqs: 8, StepTokens: 512, MaxLength: 256, Caching: true, Shape: "full", Drafts: 3}
	// emitted is the tokens of each step of each request, on one setup.
	emitted := func(change func(*enginetest.Setup), seed uint64) map[string][]string {
		s := base
		change(&s)
		e, err := build(s)
		if err != nil {
			t.Fatal(err)
		}
		parts := e.(*Engine).parts
		parts.EveryToken = true
		if e, err = Assemble(parts); err != nil {
			t.Fatal(err)
		}
		family := substream.New(seed, "engine", "drafts")
		var arrivals []enginetest.Arrival
		for id := range uint64(6) {
			arrivals = append(arrivals, enginetest.Arrival{At: int(id), Request: engines.Request{ID: engines.RequestID(id), MaxTokens: 90, IgnoreEOS: true,
				Prompt: []engines.Segment{{Stream: id, Count: 20}}, Output: engines.Segment{Stream: 100 + id}, Drafts: family.At(id)}})
		}
		var log bytes.Buffer
		if _, err := enginetest.Drive(e, arrivals, &log); err != nil {
			t.Fatal(err)
		}
		out := map[string][]string{}
		for _, m := range regexp.MustCompile(`event (\d+) tokens (\d+)`).FindAllStringSubmatch(log.String(), -1) {
			out[m[1]] = append(out[m[1]], m[2])
		}
		return out
	}
	want := emitted(func(*enginetest.Setup) {}, 1)
	for name, change := range map[string]func(*enginetest.Setup){
		"one at a time": func(s *enginetest.Setup) { s.MaxSeqs = 1 }, "overlapping batches": func(s *enginetest.Setup) { s.Async = true },
		"no caching": func(s *enginetest.Setup) { s.Caching = false },
	} {
		if got := emitted(change, 1); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if len(want) != 6 || slices.Equal(want["0"], want["1"]) || reflect.DeepEqual(emitted(func(*enginetest.Setup) {}, 2), want) {
		t.Errorf("two requests, or two seeds, draw alike: %v", want)
	}
	family := substream.New(1, "engine", "drafts")
	j := &job{drafts: family.At(5)}
	first, later := j.draftsFrom(0), j.draftsFrom(7)
	for range 7 {
		first.Float64()
	}
	if a, b := first.Float64(), later.Float64(); a != b {
		t.Errorf("position 7 has the number %v, reached from 0 it is %v", b, a)
	}
}
