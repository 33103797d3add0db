// Package sitetest makes synthetic records for tests of the site: any number of points with every
// kind of content a page can show. The numbers are invented, and mean nothing.
package sitetest

import (
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/inference-sim/accuracy-dashboard/site/page"
)

var (
	engines  = []string{"vllm", "sglang"}
	models   = []string{"gpt-oss-120b", "llama-3.1-70b", "minimax-m2.5", "kimi-k2.5", "deepseek-r1"}
	chips    = []string{"h100_sxm", "h200_sxm", "b200_sxm", "mi355x"}
	loads    = [][2]int{{1024, 1024}, {1024, 8192}, {8192, 1024}}
	hostile  = `</script><b>"quoted" & 'odd' {{ .Title }}` // a value that must come out as text
	launched = "launched with --trust-remote-code"
)

// Release returns n points with their summary and backlog.
func Release(n int) page.Input {
	in := page.Input{Summary: &record.Summary{Schema: "blis.summary/1", Experiment: "The numbers are invented.", Build: record.Build{
		Release: "unreleased", Commit: "0123456789abcdef0123456789abcdef01234567", Toolchain: "go1.26.8", Catalog: hash(1), Registry: hash(2), Ledger: hash(3),
		Engines: map[string]string{"vllm": "main-2f41c894", "sglang": "main-0bda0b16"}}}}
	for i := range n {
		in.Points = append(in.Points, point(i))
	}
	summarise(&in)
	publish(&in)
	in.Backlog = &record.Backlog{Schema: "blis.backlog/1", Entries: []record.BacklogEntry{
		{Engine: "vllm", Kind: "field", Name: "kv-transfer-config", Effect: "blocks", Points: 40, Playbook: "engine behaviour", Recipe: "reference/invariants/#T-F1", Detail: "no estimation rule"},
		{Engine: "sglang", Kind: "coefficient", Name: "moe_gemm on mi355x", Effect: "demotes", Points: 12, Playbook: "coefficient", Recipe: "contributing/add/#a-coefficient-or-a-pricing-form", Detail: hostile}}}
	return in
}

func hash(i int) string { return fmt.Sprintf("%064x", i*2654435761+17) }

func point(i int) record.Point {
	l := loads[i/5%len(loads)]
	p := record.Point{UnitID: hash(i), RoleKey: hash(i / 6), Engine: engines[i/60%2], EngineVersion: fmt.Sprintf("0.%d.0", 10+i/240%9), Model: models[i/120%len(models)],
		Hardware: chips[i/30%len(chips)], Precision: "fp8", ISL: l[0], OSL: l[1], Concurrency: 4 << (i % 5), GPUs: 8, Grade: record.Grades()[(i/7+i)%5],
		Differences: []string{}, Conditions: []record.Condition{
			{Grade: record.G1, Name: "same engine release", Held: i%5 == 0, Detail: "measured on another build"},
			{Grade: record.G2, Name: "requests are the ones the run sent", Held: true}}}
	p.Lane = p.Engine + " " + p.Model + " " + p.Hardware + " " + p.Precision
	ttft, tpot := 0.08*float64(1+i%5)*float64(l[0])/1024, 0.009+0.002*float64(i%7)
	error1, error2 := float64(i*37%61-30)/100, float64(i*53%41-20)/100
	noise := 0.04
	p.Metrics = map[string]record.Metric{
		"ttft_mean": {Measured: ttft, Simulated: ttft * (1 + error1), Unit: "s", RelativeError: error1, Interval: "no random input"},
		"tpot_mean": {Measured: tpot, Simulated: tpot * (1 + error2), Unit: "s", RelativeError: error2, Interval: "no random input", Noise: &noise},
	}
	at := func(scale float64) record.Operating {
		return record.Operating{Interactivity: scale * 400 / float64(4+p.Concurrency/4), Throughput: scale * 30 * float64(p.Concurrency)}
	}
	p.Tradeoff = &record.Tradeoff{Measured: at(1), Simulated: at(1 + error2/2)}
	p.Trial = trial(i, &p)
	if p.Grade == record.G5 {
		p.Tradeoff, p.GPUs, p.Measured = nil, 0, map[string]float64{"ttft_mean": ttft, "tpot_mean": tpot}
		p.Reason, p.Detail, p.Metrics = record.Reasons()[i%len(record.Reasons())], "kv-transfer-config: "+hostile, map[string]record.Metric{}
		p.Trial.Result, p.Trial.Refusal = nil, &record.Refused{Reason: p.Reason, Detail: p.Detail}
	} else if p.Grade != record.G1 {
		p.Differences = []string{"max-model-len was not recorded; left unset", "measured on build " + p.EngineVersion + ", simulated on main-2f41c894", hostile}
	}
	return p
}

func trial(i int, p *record.Point) *record.Trial {
	t := &record.Trial{EngineVersion: p.EngineVersion, Simulated: "main-2f41c894",
		Estimates: []record.Estimate{{Field: "max-model-len", Rule: "unset", Reason: "the engine resolves the upstream's default"}, {Field: "kv-cache-dtype", Recorded: "nvfp4", Rule: "set", StoodIn: "fp8", Reason: hostile}}}
	for _, name := range []string{"tensor-parallel-size", "gpu-memory-utilization", "max-num-seqs", "max-num-batched-tokens", "block-size", "enable-prefix-caching", "kv-cache-dtype", "VLLM_USE_V1", "async-scheduling", "stream-interval"} {
		t.Settings = append(t.Settings, record.Setting{Name: name, Recorded: fmt.Sprint(i % 9), Stage: "passed", Status: fields.Modelled, Covered: true, Stated: fmt.Sprint(i % 9)})
	}
	t.Settings = append(t.Settings, record.Setting{Name: "disable-log-requests", Recorded: hostile, Stage: "passed", Status: fields.Removed})
	t.Result = &spec.Result{Schema: spec.ResultSchema, Accepted: true, Random: "none",
		Parts:   []spec.Share{{Part: "prefill", Seconds: 12.5, Share: 0.25}, {Part: "decode", Seconds: 30, Share: 0.6}, {Part: "mixed", Seconds: 5, Share: 0.1}, {Part: "idle", Seconds: 2.5, Share: 0.05}},
		Methods: []spec.MethodUse{{Method: "measured", Steps: 100, Seconds: 20, Share: 0.42}, {Method: "roofline", Steps: 900, Seconds: 27.5, Share: 0.58}},
		Engines: []spec.EngineRun{{Accelerators: 8, KVBlocks: 100000, Steps: 1000, MaxKVUsage: 0.31, MaxRunning: 64, Busy: 47.5}}}
	t.Timeline = &record.Timeline{BinSeconds: 0.524288, Measured: 6.3}
	for k := range 72 {
		t.Timeline.Running = append(t.Timeline.Running, float64(min(64, 4*k)))
		t.Timeline.Waiting = append(t.Timeline.Waiting, 0)
		t.Timeline.KV = append(t.Timeline.KV, float64(k%20)/64)
		t.Timeline.Tokens = append(t.Timeline.Tokens, float64(1000+k*i%700))
	}
	for _, id := range []string{"ttft_mean", "ttft_p50", "ttft_p99", "tpot_mean", "tpot_p99", "itl_mean", "e2e_mean"} {
		t.Result.Figures = append(t.Result.Figures, spec.Figure{Metric: id, Scope: "cluster", Value: 0.1, Unit: "s", Count: 640, NoInterval: "no random input"})
	}
	for k := range 25 {
		t.Result.Settings = append(t.Result.Settings, spec.Setting{Name: fmt.Sprintf("setting-%02d", k), Value: fmt.Sprint(k * i), Source: "upstream default", Why: "resolved as the upstream does"})
	}
	image := "vllm/vllm-openai:v0.19.0"
	t.Unit = &ledger.Unit{ID: p.UnitID, Measurements: []ledger.Measurement{{TTFTMeanMS: 100, TPOTMeanMS: 10, Records: []ledger.Record{{Line: i + 1, RowID: fmt.Sprintf("row-%d", i), Dump: "dump.csv", Disposition: "kept"}}}},
		Configurations: []ledger.Configuration{{Match: "unique", Image: &image, Speculation: "none", Env: map[string]string{"VLLM_USE_V1": "1"}, Notes: []string{launched},
			Client: &ledger.Client{Repo: "SemiAnalysisAI/InferenceX", Path: "benchmark_serving.py", RandomRangeRatio: 0.8, RequestRate: "inf"}}}}
	return t
}

// summarise invents figures whose counts are right.
func summarise(in *page.Input) {
	groups := []struct {
		into *[]record.Accuracy
		of   func(*record.Point) string
	}{
		{&in.Summary.Headline, func(*record.Point) string { return "all" }}, {&in.Summary.ByGrade, func(p *record.Point) string { return string(p.Grade) }},
		{&in.Summary.ByEngine, func(p *record.Point) string { return p.Engine }}, {&in.Summary.ByLane, func(p *record.Point) string { return p.Lane }},
		{&in.Summary.ByChip, func(p *record.Point) string { return p.Hardware }}, {&in.Summary.ByModel, func(p *record.Point) string { return p.Model }},
		{&in.Summary.ByBand, func(p *record.Point) string { return fmt.Sprintf("concurrency %d", p.Concurrency) }},
	}
	c := &in.Summary.Coverage
	c.Records, c.LeftOut, c.Units = 2*len(in.Points)+10, 10, len(in.Points)
	c.ByGrade, c.ByReason = map[record.Grade]int{}, map[record.Reason]int{}
	rows := map[string]int{}
	for i := range in.Points {
		p := &in.Points[i]
		c.ByGrade[p.Grade]++
		if p.Grade == record.G5 {
			c.ByReason[p.Reason]++
		} else {
			c.Graded++
		}
		key := p.Engine + p.EngineVersion + p.Hardware
		if _, ok := rows[key]; !ok {
			rows[key] = len(c.Rows)
			c.Rows = append(c.Rows, record.CoverageRow{Engine: p.Engine, Release: p.EngineVersion, Hardware: p.Hardware, ByGrade: map[record.Grade]int{}})
		}
		c.Rows[rows[key]].Units++
		c.Rows[rows[key]].ByGrade[p.Grade]++
	}
	for _, g := range groups {
		var names []string
		n := map[string]int{}
		for i := range in.Points {
			if p := &in.Points[i]; p.Grade != record.G5 {
				if n[g.of(p)] == 0 {
					names = append(names, g.of(p))
				}
				n[g.of(p)]++
			}
		}
		for _, name := range names {
			for k, m := range []string{"ttft_mean", "tpot_mean"} {
				f := func(v float64) record.Figure {
					return record.NewFigure(v, "ratio", n[name], name, v*0.9, v*1.15, "resampling of deployments")
				}
				*g.into = append(*g.into, record.Accuracy{Group: name, Metric: m, MAPE: f(0.153 - 0.04*float64(k)), MedianAPE: f(0.12), Bias: f(-0.021), Spread: f(0.18), CountedMAPE: f(0.14)})
			}
		}
	}
}
