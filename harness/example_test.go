package harness_test

import (
	"fmt"
	"log"
	"math"

	"github.com/inference-sim/accuracy-dashboard/harness"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// One measured run, from the ledger to a graded point: each noun in turn.
func Example_trial() {
	// A unit is a measured run with its identity, role and recorded configuration.
	l, err := ledger.Embedded()
	if err != nil {
		log.Fatal(err)
	}
	u, err := l.Find("1e310f")
	if err != nil {
		log.Fatal(err)
	}
	m := u.Measurements[0]
	fmt.Printf("unit      %s on %s, %s, role %s: TTFT %.0f ms, TPOT %.1f ms\n", u.Model, u.Hardware, u.Framework, l.Role(u), m.TTFTMeanMS, m.TPOTMeanMS)

	// The harness states it as a scenario, in the engine's own words.
	w, err := world.Open(world.Paths{})
	if err != nil {
		log.Fatal(err)
	}
	h := &harness.World{Catalog: w.Catalog, Engines: w.Kinds, Simulate: w.Run}
	t, err := h.Try(u)
	if err != nil {
		log.Fatal(err)
	}
	x := t.Scenario.Workload.InferenceX
	fmt.Printf("scenario  %s %s, tensor-parallel-size %v, %d prompts of %d/%d tokens, %d at a time\n",
		t.Scenario.Engine.Kind, t.Scenario.Engine.Version, t.Scenario.Engine.Args["tensor-parallel-size"], x.Prompts, x.ISL, x.OSL, x.Concurrency)
	for _, e := range t.Estimates {
		fmt.Printf("estimate  %s=%s: %s %s\n", e.Field, e.Recorded, e.Rule, e.StoodIn)
	}

	// The simulator runs it: requests, steps and simulated time, then figures.
	q := t.Result.Requests
	fmt.Printf("result    %d warm-up and %d measured requests completed, %d output tokens\n", q.Warmup.Completed, q.Measured.Completed, q.OutputTokens)

	// The scorer compares and grades.
	points, err := scorer.Points([]record.Trial{*t})
	if err != nil {
		log.Fatal(err)
	}
	p := points[0]
	fmt.Printf("point     grade %s, %d conditions looked at, compared on %d metrics\n", p.Grade, len(p.Conditions), len(p.Metrics))
	fmt.Printf("          TPOT within a quarter of the measured one: %v\n", math.Abs(p.Metrics["tpot_mean"].RelativeError) < 0.25)
	// Output:
	// unit      openai/gpt-oss-120b on h200_sxm, vllm, role fit: TTFT 117 ms, TPOT 9.5 ms
	// scenario  vllm main-2f41c894, tensor-parallel-size 4, 640 prompts of 1024/1024 tokens, 64 at a time
	// estimate  VLLM_MXFP4_USE_MARLIN=1: set moe-backend=marlin
	// estimate  VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=: earlier default VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=0
	// result    128 warm-up and 640 measured requests completed, 589961 output tokens
	// point     grade G4, 10 conditions looked at, compared on 2 metrics
	//           TPOT within a quarter of the measured one: true
}
