package sim

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/inference-sim/accuracy-dashboard/sim/workload"
)

// What a key of a scenario or a trace is to the simulator (SIM-11).
const (
	consumed = "consumed" // another value gives another Result
	refused  = "refused"  // one value alone is taken
	inert    = "inert"    // for readers; no value changes the Result
	owned    = "owned"    // the engine's to classify (X1)
)

// change is how a key is tried: in text, old is replaced by new. A text of vLLM's runs on
// the embedded data, any other on plain engines.
type change struct{ class, text, old, new string }

const (
	keysHead  = "schema: blis.scenario/1\nengine: {kind: plain, version: \"1\", args: {seqs: 4}}\nmodel: m\nhardware: h\ncluster: {instances: 2}\n"
	keysFrame = "frame: {seed: 7, scopes: [cluster, class, tenant], accept: {failed: 1, unfinished: 1}, stop: {requests: 60}}\n"
	keysOpen  = keysHead + keysFrame + `workload:
  clients:
  - {name: a, requests: 50, arrivals: {gamma: {rate: 50, shape: 2, windows: [{start: 0.1, end: 0.4, factor: 3}]}}, prompt: {uniform: {min: 10, max: 300}}, output: {normal: {mean: 20, std: 5, min: 8, max: 30}}, class: k, objectives: {ttft: 0.05, tpot: 0.0023, e2e: 0.06}, deadline: 0.09,
     prefixes: [{name: p, tokens: 100, share: 0.5, prompt: {lognormal: {mean: 3, std: 0.5, min: 5, max: 100}}, output: {exponential: {mean: 9}}}]}
  - {name: b, arrivals: {closed: {concurrency: 2, think: {exponential: {mean: 0.1}}}}, tenant: x, joint: [{prompt: 10, output: 3, weight: 1}, {prompt: 90, output: 30, weight: 3}], session: {rounds: {empirical: {values: [1, 3], weights: [1, 2]}}, think: {fixed: 0.05}}}
`
	keysClosed = keysHead + "workload:\n  inferencex: {release: inferencex-843c6254, isl: 100, osl: 20, range_ratio: 0.8, num_prompts: 30, concurrency: 4, warmups: 3, seed: 1, chat_template: {subtract: 5, add: 9}}\n"
	keysTrace  = "schema: blis.scenario/1\nengine: {kind: vllm, version: main-2f41c894, args: {scheduling-policy: priority, max-num-seqs: 1}}\nmodel: llama-3.1-8b\nhardware: h100_sxm\nworkload: {trace: {path: t.jsonl, scale: 2}}\nframe: {scopes: [cluster, class, tenant], accept: {failed: 1, unfinished: 1, concurrency: 0.99}, stop: {horizon: 30}}\n"
	keysRows   = `{"schema":"blis.trace/1","clients":[{"class":"k","tenant":"x","objectives":{"ttft":0.01},"concurrency":1},{"objectives":{},"concurrency":1}],"source":"a"}
{"client":0,"at":1000,"prompt":[[1,0,50]],"stream":9,"length":5,"max_tokens":5,"session":3,"priority":1,"warmup":false}
{"client":0,"after_round":true,"wait":20000,"prompt":[[2,0,30]],"stream":10,"length":5,"max_tokens":5,"session":3}
{"client":1,"after_end":-1,"wait":700,"prompt":[[1,0,50]],"stream":11,"length":40,"max_tokens":40,"deadline":900000}
{"client":1,"at":1200,"prompt":[[4,0,50]],"stream":13,"length":20,"max_tokens":20}
{"client":1,"at":900000,"prompt":[[1,0,50],[11,0,39]],"stream":14,"length":5,"max_tokens":5}
`
	keysVLLM = `schema: blis.scenario/1
engine: {kind: vllm, version: main-2f41c894, args: {tensor-parallel-size: 16, scheduling-policy: priority, max-num-seqs: 2}}
model: llama-3.1-70b
hardware: h100_sxm
cluster: {nodes: 2, fabric: connectx7-400g}
workload:
  clients:
  - {name: a, requests: 20, arrivals: {constant: {rate: 100}}, prompt: {fixed: 100}, output: {fixed: 20}, max_tokens: 21, class: k}
  - {name: b, requests: 20, arrivals: {constant: {rate: 100}}, prompt: {fixed: 100}, output: {fixed: 20}, priority: 1, class: l}
frame: {scopes: [cluster, class]}
`
	keysVocabulary = `schema: blis.scenario/1
engine: {kind: vllm, version: main-2f41c894, args: {enable-prefix-caching: true}}
model: llama-3.1-8b
hardware: h100_sxm
workload: {inferencex: {release: inferencex-843c6254, isl: 200, osl: 5, range_ratio: 1, num_prompts: 20, concurrency: 4, vocab_size: 128256}}
`
	keysDrafts = `schema: blis.scenario/1
engine: {kind: vllm, version: main-2f41c894, args: {tensor-parallel-size: 8, speculative-config: {method: mtp, num_speculative_tokens: 2}}}
model: qwen3.5-397b-a17b
hardware: h200_sxm
workload:
  acceptance: {profile: coding/thinking_on}
  clients: [{name: a, requests: 4, arrivals: {constant: {rate: 5}}, prompt: {fixed: 100}, output: {fixed: 60}}]
`
)

// scenarioKeys tries every key of a scenario, by the type that holds it.
var scenarioKeys = map[string]change{
	"Scenario.schema":          {refused, keysOpen, "scenario/1", "scenario/2"},
	"Scenario.model":           {consumed, keysVLLM, "llama-3.1-70b", "llama-3.1-8b"},
	"Scenario.checkpoint":      {consumed, keysVLLM, "model:", "checkpoint: meta-llama/Meta-Llama-3.1-70B\nmodel:"},
	"Scenario.hardware":        {consumed, keysVLLM, "h100_sxm", "h200_sxm"},
	"Engine.kind":              {owned, "", "", ""},
	"Engine.version":           {owned, "", "", ""},
	"Engine.args":              {owned, "", "", ""},
	"Engine.env":               {owned, "", "", ""},
	"Cluster.instances":        {consumed, keysOpen, "instances: 2", "instances: 3"},
	"Cluster.nodes":            {consumed, strings.NewReplacer("size: 16", "size: 8", ", fabric: connectx7-400g", "").Replace(keysVLLM), "nodes: 2", "nodes: 1"},
	"Cluster.fabric":           {consumed, keysVLLM, "connectx7-400g", "connectx8-2x400g"},
	"Router.policy":            {refused, keysOpen, "cluster:", "router: {policy: random}\ncluster:"},
	"Workload.inferencex":      {consumed, keysClosed, keysClosed[len(keysHead):], "workload: {clients: [{name: a, requests: 1, arrivals: {constant: {rate: 1}}, prompt: {fixed: 1}, output: {fixed: 1}}]}"},
	"Workload.clients":         {consumed, keysOpen, "  - {name: b, ", "  - {name: c, requests: 1, arrivals: {constant: {rate: 1000}}, prompt: {fixed: 1}, output: {fixed: 1}}\n  - {name: b, "},
	"Workload.trace":           {consumed, keysTrace, "trace: {path: t.jsonl, scale: 2}", "clients: [{name: a, requests: 1, arrivals: {closed: {concurrency: 1}}, prompt: {fixed: 1}, output: {fixed: 1}}]"},
	"Workload.acceptance":      {consumed, keysDrafts, "{profile: coding/thinking_on}", "{per_position: [0.1, 0.1]}"},
	"Acceptance.profile":       {consumed, keysDrafts, "thinking_on", "thinking_off"},
	"Acceptance.per_position":  {consumed, strings.Replace(keysDrafts, "{profile: coding/thinking_on}", "{per_position: [0.9, 0.5]}", 1), "0.5", "0.1"},
	"InferenceX.release":       {consumed, strings.Replace(keysClosed, "warmups: 3, ", "", 1), "inferencex-843c6254", "bench_serving-406abc35"},
	"InferenceX.isl":           {consumed, keysClosed, "isl: 100", "isl: 120"},
	"InferenceX.osl":           {consumed, keysClosed, "osl: 20", "osl: 30"},
	"InferenceX.range_ratio":   {consumed, keysClosed, "0.8", "0.7"},
	"InferenceX.num_prompts":   {consumed, keysClosed, "num_prompts: 30", "num_prompts: 31"},
	"InferenceX.concurrency":   {consumed, keysClosed, "concurrency: 4", "concurrency: 5"},
	"InferenceX.warmups":       {consumed, keysClosed, "warmups: 3", "warmups: 4"},
	"InferenceX.seed":          {consumed, keysClosed, "seed: 1", "seed: 2"},
	"InferenceX.chat_template": {consumed, keysClosed, ", chat_template: {subtract: 5, add: 9}", ""},
	"InferenceX.vocab_size":    {consumed, keysVocabulary, "128256", "16"},
	"ChatTemplate.subtract":    {consumed, keysClosed, "subtract: 5", "subtract: 25"},
	"ChatTemplate.add":         {consumed, keysClosed, "add: 9", "add: 29"},
	"Client.name":              {consumed, keysOpen, "name: a", "name: z"},
	"Client.requests":          {consumed, keysOpen, "requests: 50", "requests: 20"},
	"Client.prompt":            {consumed, keysOpen, "prompt: {uniform: {min: 10, max: 300}}", "prompt: {fixed: 300}"},
	"Client.output":            {consumed, keysOpen, "output: {normal: {mean: 20, std: 5, min: 8, max: 30}}", "output: {fixed: 20}"},
	"Client.joint":             {consumed, keysOpen, ", {prompt: 90, output: 30, weight: 3}", ""},
	"Client.prefixes":          {consumed, keysOpen, "prefixes: [", "prefixes: [{name: q, tokens: 10, share: 0.5}, "},
	"Client.session":           {consumed, keysOpen, "session: {rounds: {empirical: {values: [1, 3], weights: [1, 2]}}, think: {fixed: 0.05}}", "session: "},
	"Client.class":             {consumed, keysOpen, "class: k", "class: l"},
	"Client.tenant":            {consumed, keysOpen, "tenant: x", "tenant: y"},
	"Client.priority":          {consumed, keysVLLM, "priority: 1", "priority: -1"},
	"Client.deadline":          {consumed, keysOpen, "deadline: 0.09", "deadline: 0.01"},
	"Client.max_tokens":        {consumed, keysVLLM, "max_tokens: 21", "max_tokens: 20"},
	"Arrivals.poisson":         {consumed, keysOpen, "gamma: {rate: 50, shape: 2", "poisson: {rate: 50"},
	"Arrivals.gamma":           {consumed, keysOpen, "gamma: ", "weibull: "},
	"Arrivals.weibull":         {consumed, strings.Replace(keysOpen, "gamma: {", "weibull: {", 1), "shape: 2", "shape: 1"},
	"Arrivals.constant":        {consumed, keysOpen, "gamma: {rate: 50, shape: 2", "constant: {rate: 50"},
	"Arrivals.closed":          {consumed, keysOpen, "closed: {concurrency: 2, think: {exponential: {mean: 0.1}}}", "poisson: {rate: 3}"},
	"Process.rate":             {consumed, keysOpen, "rate: 50", "rate: 60"},
	"Process.shape":            {consumed, keysOpen, "shape: 2", "shape: 3"},
	"Process.windows":          {consumed, keysOpen, ", windows: [{start: 0.1, end: 0.4, factor: 3}]", ""},
	"Window.start":             {consumed, keysOpen, "start: 0.1", "start: 0.2"},
	"Window.end":               {consumed, keysOpen, "end: 0.4", "end: 0.2"},
	"Window.factor":            {consumed, keysOpen, "factor: 3", "factor: 0"},
	"ClosedLoop.concurrency":   {consumed, keysOpen, "concurrency: 2", "concurrency: 3"},
	"ClosedLoop.think":         {consumed, keysOpen, ", think: {exponential: {mean: 0.1}}", ""},
	"Session.think":            {consumed, keysOpen, ", think: {fixed: 0.05}", ""},
	"Prefix.name":              {consumed, keysOpen, "name: p", "name: q"},
	"Prefix.tokens":            {consumed, keysOpen, "tokens: 100", "tokens: 10"},
	"Prefix.share":             {consumed, keysOpen, "share: 0.5", "share: 0.9"},
	"Prefix.prompt":            {consumed, keysOpen, "prompt: {lognormal: {mean: 3, std: 0.5, min: 5, max: 100}}, ", ""},
	"Prefix.output":            {consumed, keysOpen, ", output: {exponential: {mean: 9}}", ""},
	"Objectives.ttft":          {consumed, keysOpen, "ttft: 0.05", "ttft: 0.001"},
	"Objectives.tpot":          {consumed, keysOpen, "tpot: 0.0023", "tpot: 0.001"},
	"Objectives.e2e":           {consumed, keysOpen, "e2e: 0.06", "e2e: 0.001"},
	"LengthPair.prompt":        {consumed, keysOpen, "prompt: 90", "prompt: 290"},
	"LengthPair.output":        {consumed, keysOpen, "output: 30,", "output: 40,"},
	"LengthPair.weight":        {consumed, keysOpen, "weight: 3", "weight: 0.1"},
	"Trace.path":               {consumed, keysTrace, "t.jsonl", "other.jsonl"},
	"Trace.sha256":             {refused, keysTrace, "scale: 2", "scale: 2, sha256: " + strings.Repeat("0", 64)},
	"Trace.scale":              {consumed, keysTrace, "scale: 2", "scale: 3"},
	"Distribution.fixed":       {consumed, keysOpen, "fixed: 0.05", "fixed: 0.5"},
	"Distribution.uniform":     {consumed, keysOpen, "uniform: {min: 10, max: 300}", "fixed: 300"},
	"Distribution.normal":      {consumed, keysOpen, "normal: {mean: 20, std: 5, min: 8, max: 30}", "fixed: 20"},
	"Distribution.lognormal":   {consumed, keysOpen, "lognormal: {mean: 3, std: 0.5, min: 5, max: 100}", "fixed: 20"},
	"Distribution.exponential": {consumed, keysOpen, "exponential: {mean: 9}", "fixed: 9"},
	"Distribution.empirical":   {consumed, keysOpen, "empirical: {values: [1, 3], weights: [1, 2]}", "fixed: 3"},
	"Distribution.source":      {consumed, keysOpen, "min: 10, max: 300}", "min: 10, max: 300}, source: a table"},
	"Distribution.fit":         {consumed, strings.Replace(keysOpen, "min: 10, max: 300}", "min: 10, max: 300}, source: a table", 1), "source: a table", "source: a table, fit: a test"},
	"Process.source":           {consumed, keysOpen, "shape: 2", "shape: 2, source: a table"},
	"Process.fit":              {consumed, strings.Replace(keysOpen, "shape: 2", "shape: 2, source: a table", 1), "source: a table", "source: a table, fit: a test"},
	"Client.joint_source":      {consumed, keysOpen, "joint: [", "joint_source: a trace, joint: ["},
	"Bounds.min":               {consumed, keysOpen, "min: 10", "min: 100"},
	"Bounds.max":               {consumed, keysOpen, "max: 300", "max: 200"},
	"Normal.mean":              {consumed, keysOpen, "mean: 20", "mean: 22"},
	"Normal.std":               {consumed, keysOpen, "std: 5", "std: 4"},
	"Normal.min":               {consumed, keysOpen, "min: 8", "min: 18"},
	"Normal.max":               {consumed, keysOpen, "max: 30}", "max: 21}"},
	"MeanOnly.mean":            {consumed, keysOpen, "mean: 9", "mean: 4"},
	"Empirical.values":         {consumed, keysOpen, "[1, 3]", "[1, 2]"},
	"Empirical.weights":        {consumed, keysOpen, "[1, 2]", "[9, 1]"},
	"Frame.kind":               {consumed, keysOpen, "seed: 7", "seed: 7, kind: steady_state"},
	"Frame.seed":               {consumed, keysOpen, "seed: 7", "seed: 8"},
	"Frame.generator":          {refused, keysOpen, "seed: 7", "seed: 7, generator: other"},
	"Frame.initial_state":      {refused, keysOpen, "seed: 7", "seed: 7, initial_state: warm"},
	"Frame.drain":              {consumed, keysOpen, "seed: 7", "seed: 7, drain: excluded"},
	"Frame.accept":             {consumed, strings.Replace(keysOpen, "deadline: 0.09", "deadline: 0.01", 1), ", accept: {failed: 1, unfinished: 1}", ""},
	"Frame.unfinished":         {refused, keysOpen, "seed: 7", "seed: 7, unfinished: censored"},
	"Frame.metrics":            {consumed, keysOpen, "seed: 7", "seed: 7, metrics: [ttft_p50]"},
	"Frame.scopes":             {consumed, keysOpen, ", tenant]", "]"},
	"Warmup.requests":          {consumed, strings.Replace(keysOpen, "seed: 7", "seed: 7, kind: steady_state, warmup: {requests: 5}", 1), "requests: 5}", "requests: 6}"},
	"Warmup.seconds":           {consumed, strings.Replace(keysOpen, "seed: 7", "seed: 7, kind: steady_state, warmup: {seconds: 0.2}", 1), "seconds: 0.2", "seconds: 0.4"},
	"Stop.requests":            {consumed, keysOpen, "requests: 60}", "requests: 61}"},
	"Stop.horizon":             {consumed, keysOpen, "requests: 60}", "requests: 60, horizon: 0.3}"},
	"Accept.failed":            {consumed, keysOpen, "failed: 1", "failed: 0"},
	"Accept.unfinished":        {consumed, strings.Replace(keysOpen, "requests: 60}", "requests: 60, horizon: 0.3}", 1), "unfinished: 1", "unfinished: 0"},
	"Accept.concurrency":       {consumed, keysHead + "frame: {accept: {failed: 1, concurrency: 1}}\nworkload: {clients: [{name: a, requests: 9, arrivals: {closed: {concurrency: 3, think: {fixed: 0.1}}}, prompt: {fixed: 5}, output: {fixed: 2}}]}\n", "failed: 1, concurrency: 1", "failed: 1, concurrency: 0.01"},
}

// traceKeys tries every key of a trace, in keysRows.
var traceKeys = map[string]change{
	"TraceHeader.schema":      {refused, keysRows, "trace/1", "trace/2"},
	"TraceHeader.source":      {inert, keysRows, `"source":"a"`, `"source":"b"`},
	"TraceHeader.clients":     {consumed, keysRows, `,{"objectives":{},`, `,{"objectives":{"e2e":0.001},`},
	"TraceClient.class":       {consumed, keysRows, `"class":"k"`, `"class":"l"`},
	"TraceClient.tenant":      {consumed, keysRows, `"tenant":"x"`, `"tenant":"y"`},
	"TraceClient.requests":    {consumed, keysRows, `{"class":"k"`, `{"requests":-1,"class":"k"`},
	"TraceClient.concurrency": {consumed, keysRows, `{},"concurrency":1}`, `{},"concurrency":1000}`},
	"TraceRow.rounds":         {consumed, strings.Replace(keysRows, `{"class":"k"`, `{"requests":-1,"class":"k"`, 1), `"session":3,"priority"`, `"session":3,"rounds":4,"priority"`},
	"TraceRow.client":         {consumed, keysRows, `{"client":1,"at":1200`, `{"client":0,"at":1200`},
	"TraceRow.at":             {consumed, keysRows, `"at":1000`, `"at":2000`},
	"TraceRow.after_end":      {consumed, keysRows, `"after_end":-1,"wait":700`, `"at":900`},
	"TraceRow.after_round":    {consumed, keysRows, `"after_round":true,"wait":20000,"prompt":[[2,0,30]],"stream":10,"length":5,"max_tokens":5,"session":3`, `"at":20000,"prompt":[[2,0,30]],"stream":10,"length":5,"max_tokens":5`},
	"TraceRow.wait":           {consumed, keysRows, `"wait":700`, `"wait":7000`},
	"TraceRow.session":        {consumed, keysRows, `"priority":1,"warmup":false}`, `"priority":1,"warmup":false}` + "\n" + `{"client":1,"at":5,"prompt":[[1,0,50]],"stream":9,"length":5,"max_tokens":5,"session":8}`},
	"TraceRow.prompt":         {consumed, keysRows, `[[2,0,30]]`, `[[2,0,60]]`},
	"TraceRow.stream":         {consumed, keysRows, `"stream":11`, `"stream":12`},
	"TraceRow.length":         {consumed, keysRows, `"length":40`, `"length":30`},
	"TraceRow.max_tokens":     {consumed, keysRows, `"max_tokens":40`, `"max_tokens":41`},
	"TraceRow.priority":       {consumed, keysRows, `"priority":1`, `"priority":0`},
	"TraceRow.deadline":       {consumed, keysRows, `"deadline":900000`, `"deadline":900`},
	"TraceRow.warmup":         {consumed, keysRows, `"warmup":false`, `"warmup":true`},
}

// TestEveryKeyDoesSomething keeps SIM-11: each key of a scenario and of a trace is tried
// and does what its class says; a key without a trial is found.
func TestEveryKeyDoesSomething(t *testing.T) {
	keep.Rule(t, "SIM-11")
	for _, document := range []reflect.Type{reflect.TypeFor[spec.Scenario](), reflect.TypeFor[workload.TraceHeader](), reflect.TypeFor[workload.TraceRow]()} {
		for _, k := range keysOf(document, map[reflect.Type]bool{}) {
			if scenarioKeys[k].class == "" && traceKeys[k].class == "" {
				t.Errorf("%s is tried with no value: consumed, refused or inert?", k)
			}
		}
	}
	for _, keys := range []map[string]change{scenarioKeys, traceKeys} {
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			tryKey(t, k, keys[k])
		}
	}
}

func tryKey(t *testing.T, k string, c change) {
	if c.class == owned {
		return
	}
	if strings.Count(c.text, c.old) == 0 {
		t.Fatalf("%s: the text has no %q", k, c.old)
	}
	before, err := outcome(t, c.text)
	if err != nil {
		t.Errorf("%s: as it was: %v", k, err)
		return
	}
	after, err := outcome(t, strings.Replace(c.text, c.old, c.new, 1))
	got := consumed
	switch {
	case err != nil:
		got = refused
	case before == after:
		got = inert
	}
	if got != c.class {
		t.Errorf("%s is %s, want %s: %q for %q, %v", k, got, c.class, c.new, c.old, err)
	}
}

// TestABadValueIsRefusedThroughEveryInput keeps SIM-11: a value that one input refuses is
// refused through each other that carries its kind, and the closest accepted is accepted.
func TestABadValueIsRefusedThroughEveryInput(t *testing.T) {
	keep.Rule(t, "SIM-11")
	for _, c := range []struct {
		kind, text, old, accepted, refused, names string
	}{
		{"objective", keysOpen, "ttft: 0.05", "ttft: 1e9", "ttft: 1000000001", "objectives.ttft"},
		{"objective", keysRows, `"ttft":0.01`, `"ttft":1e9`, `"ttft":1000000001`, "objectives.ttft"},
		{"aim of a class", keysOpen, "tenant: x", "class: k, objectives: {ttft: 0.05, tpot: 0.0023, e2e: 0.06}", "class: k", "objectives"},
		{"aim of a class", keysRows, `{"objectives":{},`, `{"class":"k","objectives":{"ttft":0.01},`, `{"class":"k","objectives":{},`, "objectives"},
		{"deadline", keysOpen, "deadline: 0.09", "deadline: 1e9", "deadline: 1000000001", "deadline"},
		{"deadline", keysRows, `"deadline":900000`, `"deadline":1000000000000000`, `"deadline":1000000000000001`, "deadline"},
		{"wait", keysOpen, "think: {fixed: 0.05}", "think: {fixed: 1e9}", "think: {fixed: 1000000001}", "think"},
		{"wait", keysRows, `"wait":700`, `"wait":1000000000000000`, `"wait":1000000000000001`, "wait"},
		{"prompt", keysOpen, "uniform: {min: 10, max: 300}", "fixed: 1", "fixed: 0", "prompt"},
		{"prompt", keysRows, "[2,0,30]", "[2,0,1]", "[2,0,0]", "prompt"},
		{"prompt", keysOpen, "uniform: {min: 10, max: 300}", "fixed: 2147483647", "fixed: 2147483648", "prompt"},
		{"prompt", keysRows, "[2,0,30]", "[2,0,2147483647]", "[2,0,2147483648]", "prompt"},
		{"output", keysOpen, "normal: {mean: 20, std: 5, min: 8, max: 30}", "fixed: 1", "fixed: 0", "output"},
		{"output", keysRows, `"length":40`, `"length":1`, `"length":0`, "length"},
		{"most tokens", keysVLLM, "max_tokens: 21", "max_tokens: 2147483647", "max_tokens: 2147483648", "max_tokens"},
		{"most tokens", keysRows, `"max_tokens":40`, `"max_tokens":2147483647`, `"max_tokens":2147483648`, "max_tokens"},
	} {
		if _, err := outcome(t, strings.Replace(c.text, c.old, c.accepted, 1)); err != nil {
			t.Errorf("%s: %s: %v", c.kind, c.accepted, err)
		}
		if _, err := outcome(t, strings.Replace(c.text, c.old, c.refused, 1)); err == nil || !strings.Contains(err.Error(), c.names) {
			t.Errorf("%s: %s: got %v, want a refusal of %s", c.kind, c.refused, err, c.names)
		}
	}
}

// keysOf lists the keys of a document by type. A part that is always there is no key.
func keysOf(of reflect.Type, seen map[reflect.Type]bool) (out []string) {
	if of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		return keysOf(of.Elem(), seen)
	}
	if of.Kind() != reflect.Struct || seen[of] {
		return nil
	}
	seen[of] = true
	for i := range of.NumField() {
		f := of.Field(i)
		if !f.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Type.Kind() != reflect.Struct {
			out = append(out, of.Name()+"."+name)
		}
		out = append(out, keysOf(f.Type, seen)...)
	}
	return out
}

// outcome is the Result of a scenario, or of a trace, without its inputs.
func outcome(t *testing.T, text string) (string, error) {
	scenario, rows := text, keysRows
	if strings.HasPrefix(text, "{") {
		scenario, rows = keysTrace, text
	}
	s, err := spec.Parse("s.yaml", []byte(scenario))
	if err != nil {
		return "", err
	}
	w := plainWorld()
	if s.Engine.Kind != "plain" {
		w = embeddedWorld(t)
	}
	w.Files = fstest.MapFS{"t.jsonl": {Data: []byte(rows)}, "other.jsonl": {Data: []byte(strings.Replace(keysRows, "1000", "5000", 1))}}
	r, err := Run(s, w)
	if err != nil {
		return "", err
	}
	r.Inputs = spec.Inputs{}
	return string(bytesOf(t, r)), nil
}

// A trace that cannot be had is refused by its field, an empty one by its name.
func TestTracesThatCannotBeReadAreRefused(t *testing.T) {
	keep.Rule(t, "SIM-2", "SIM-9")
	for _, c := range []struct {
		name  string
		files fstest.MapFS
		want  string
	}{
		{"no files", nil, "s.yaml:5:20: workload.trace.path: t.jsonl: cannot be opened here"},
		{"another file", fstest.MapFS{"u.jsonl": {}}, "s.yaml:5:20: workload.trace.path: t.jsonl: cannot be read"},
		{"an empty file", fstest.MapFS{"t.jsonl": {}}, "t.jsonl: is empty"},
		{"a trace", fstest.MapFS{"t.jsonl": {Data: []byte(keysRows)}}, ""},
	} {
		s, err := spec.Parse("s.yaml", []byte(keysTrace))
		if err != nil {
			t.Fatal(err)
		}
		w := embeddedWorld(t)
		if c.files != nil {
			w.Files = c.files
		}
		_, err = Run(s, w)
		if err = diag.In("s.yaml", err); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
