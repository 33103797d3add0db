package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/spf13/cobra"
)

func execute(t *testing.T, c *cobra.Command, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = exit.Run(context.Background(), c, args, &out, &errs)
	return code, out.String(), errs.String()
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRecordedBlockCount holds the whole memory plan to one recorded fact: vLLM
// v0.22.0 reported 103,690 blocks of 16 tokens for gpt-oss-120b on one H200 at
// gpu_memory_utilization 0.9. Its other flags are not on record, so the defaults
// and the flags the benchmark it belongs to passes on that chip must both give it.
// No term is scoped to the model.
func TestRecordedBlockCount(t *testing.T) {
	const want = 103690
	for _, flags := range []string{"", " --max-num-batched-tokens 8192 --max-num-seqs 64 --max-cudagraph-capture-size 2048 --moe-backend marlin"} {
		code, scenario, stderr := execute(t, scenarioCmd(), "--from-args", "vllm serve openai/gpt-oss-120b --gpu-memory-utilization 0.9"+flags, "--hardware", "h200_sxm")
		if code != exit.Done {
			t.Fatal(stderr)
		}
		code, text, stderr := execute(t, explainCmd(), write(t, "s.yaml", scenario))
		if code != exit.Done {
			t.Fatal(stderr)
		}
		m := regexp.MustCompile(`num-gpu-blocks +(\d+)`).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("no block count in\n%s", text)
		}
		if got, _ := strconv.ParseFloat(m[1], 64); got < 0.99*want || got > 1.01*want {
			t.Errorf("%q: got %v blocks, want %v within 1%%", flags, got, want)
		}
		for _, term := range []string{"memory.device", "memory.requested", "memory.weights", "memory.activations", "memory.buffers", "memory.context", "memory.graphs", "kv-budget", "FRONT END", "in turn"} {
			if !strings.Contains(text, "\n"+term) {
				t.Errorf("the term %s is not shown", term)
			}
		}
	}
}

// What the workload states of its text is a setting like the engine's own.
func TestExplainSaysWhatAnAcceptanceIsOf(t *testing.T) {
	stated := strings.Replace(chatScenario, "workload:", "workload:\n  acceptance: {per_position: [0.6]}", 1)
	drafts := strings.NewReplacer("max-num-seqs: 32", "tensor-parallel-size: 8, speculative-config: {method: mtp, num_speculative_tokens: 1}", "llama-3.1-8b", "deepseek-r1", "h100_sxm", "h200_sxm")
	for scenario, want := range map[string]string{stated: `workload.acceptance +no effect`, drafts.Replace(stated): `workload.acceptance.per_position +\[0.6\] +scenario +the chance of each draft, given that`} {
		code, text, stderr := execute(t, explainCmd(), write(t, "s.yaml", scenario))
		if code != exit.Done || !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("got %d, %s, want %s in\n%s", code, stderr, want, text)
		}
	}
}

func TestScenarioFromArgs(t *testing.T) {
	keep.Rule(t, "X19")
	manifest := write(t, "deployment.yaml", `apiVersion: apps/v1
kind: Deployment
spec:
  template:
    spec:
      containers:
        - name: vllm
          image: vllm/vllm-openai
          args: ["--model", "openai/gpt-oss-120b", "--tensor-parallel-size", 2]
          env:
            - {name: VLLM_LOGGING_LEVEL, value: INFO}
`)
	sidecar := write(t, "sidecar.yaml", `spec:
  initContainers: [{name: fetch, args: [cp, x]}]
  containers:
    - {name: proxy, image: envoy, args: ["--config", x]}
    - name: server
      image: vllm/vllm-openai
      args: [--model, openai/gpt-oss-120b, "-tp=$(TP)"]
      env: [{name: TP, value: "2"}, {name: HF_TOKEN, valueFrom: {secretKeyRef: {name: s}}}]
`)
	kept := write(t, "kept.yaml", "args: [--model, m]\nenv: [{name: VLLM_USE_FLASHINFER_MOE_FP4, valueFrom: {configMapKeyRef: {name: s}}}]\n")
	script := write(t, "launch.yaml", "containers:\n  - command: [sh, -c]\n    args: [\"vllm serve openai/gpt-oss-120b \\\\\\n --max-num-seqs 64\"]\n")
	for _, c := range []struct {
		from string
		code int
		want string
	}{
		{"vllm serve openai/gpt-oss-120b -tp 2 --no-enable-prefix-caching", exit.Done, "enable-prefix-caching: false\n        tensor-parallel-size: 2"},
		{manifest, exit.Done, "tensor-parallel-size: 2\n    env:\n        VLLM_LOGGING_LEVEL: INFO"},
		{script, exit.Done, "max-num-seqs: 64"},
		{sidecar, exit.Done, "tensor-parallel-size: 2"},
		{kept, exit.Refused, "env.VLLM_USE_FLASHINFER_MOE_FP4: valueFrom: is kept outside the manifest"},
		{"vllm serve openai/gpt-oss-120b --max-num-seqs 64 # at most", exit.Done, "max-num-seqs: 64"},
		{"vllm serve openai/gpt-oss-120b | tee log", exit.Refused, "from-args: |: is an operator of the shell"},
		{`vllm serve openai/gpt-oss-120b --served-model-name "a|b"`, exit.Done, "served-model-name: a|b"},
		{"vllm serve openai/gpt-oss-120b --max-model-len 200k", exit.Refused, "User-specified max_model_len (200000) is greater than the derived max_model_len"},
		{"vllm serve openai/gpt-oss-120b --tensor-parallel-sise 2", exit.Refused, "unrecognized arguments: --tensor-parallel-sise"},
		{"vllm serve openai/gpt-oss-120b --gpu-memory-utilization NaN", exit.Refused, "Input should be a finite number"},
		{"vllm serve nobody/nothing", exit.Refused, "model: nobody/nothing: is not in the catalog"},
		{"sglang.launch_server --model openai/gpt-oss-120b -tp 2", exit.Refused, "--from-args: sglang.launch_server: starts SGLang"},
		{"python3 -m sglang.launch_server --model openai/gpt-oss-120b", exit.Refused, "starts SGLang"},
		{"vllm serve openai/gpt-oss-120b --served-model-name sglang", exit.Done, "served-model-name: sglang"},
		{"docker run --gpus all vllm/vllm-openai --model openai/gpt-oss-120b", exit.Refused, "accepted: the words after the image"},
		{write(t, "run.yaml", "args: [docker, run, vllm/vllm-openai]\n"), exit.Refused, "starts a container"},
		{write(t, "run.sh", "docker run vllm/vllm-openai"), exit.Refused, "starts a container"},
		{"/nope.yaml", exit.Refused, "--from-args: /nope.yaml: cannot be read"},
		{"nope.yaml", exit.Refused, "--from-args: nope.yaml: cannot be read"},
		{"openai/gpt-oss-120b", exit.Done, "model: gpt-oss-120b"},
		{"vllm serve 'openai/gpt-oss-120b", exit.Refused, "a quote (') is not closed"},
	} {
		code, stdout, stderr := execute(t, scenarioCmd(), "--from-args", c.from, "--hardware", "h200_sxm")
		text := stdout + stderr
		if code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("%s: got exit %d, %s; want exit %d with %q", c.from, code, text, c.code, c.want)
		}
	}
}

// A scenario none of whose requests would be taken is refused.
func TestScenarioRequestsFitTheModel(t *testing.T) {
	for prompt, want := range map[string]string{"6": "", "7": "--prompt, --output: 7, 10: are longer than the model's sequences\nhint: accepted: at most 16 tokens together"} {
		code, _, complaint := execute(t, scenarioCmd(), "--from-args", "vllm serve openai/gpt-oss-120b --max-model-len 16", "--hardware", "h200_sxm", "--prompt", prompt, "--output", "10")
		if (code == exit.Done) != (want == "") || !strings.Contains(complaint, want) {
			t.Errorf("%s: got %d, %s, want %q", prompt, code, complaint, want)
		}
	}
}

func TestFieldsCommand(t *testing.T) {
	row := func(args, env string) string {
		return `{"row_id":"r","config":{"entry":{"framework":"vllm"}},"server_args":` + args + `,"env":` + env + "}\n"
	}
	known := write(t, "known.jsonl", row(`{"cuda-graph-sizes":2048,"compilation_config.pass_config.fuse_allreduce_rms":true}`, `{"VLLM_MXFP4_USE_MARLIN":"1","PYTHONNOUSERSITE":"1"}`))
	unknown := write(t, "unknown.jsonl", row(`{"new-flag":1,"compilation-config":{"pass_config":{"enable_noop":true}}}`, `{"VLLM_MXFP4_USE_MARLIN":"2"}`))
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{nil, exit.Done, "VLLM_USE_MEGA_AOT_ARTIFACT"},
		{[]string{"--status", "removed"}, exit.Done, "cuda-graph-sizes"},
		{[]string{"--status", "gone"}, exit.Usage, "unknown status"},
		{[]string{"max-num-seqs"}, exit.Done, `"status": "modelled"`},
		{[]string{"max-num-seq"}, exit.Refused, "did you mean max-num-seqs?"},
		{[]string{"--engine", "vlm"}, exit.Usage, "did you mean vllm?"},
		{[]string{"--unclassified-in-data", known}, exit.Done, ""},
		{[]string{"--unclassified-in-data"}, exit.Done, ""},
		{[]string{"--unclassified-in-data", "--engine", "sglang"}, exit.Failed, "speculative-algorithm=EAGLE\t"},
		{[]string{"--unclassified-in-data", "no.jsonl"}, exit.Refused, "no.jsonl: cannot be read"},
		{[]string{"--unclassified-in-data", unknown}, exit.Failed, "VLLM_MXFP4_USE_MARLIN=2\t1 launches\nnew-flag\t1 launches\n"},
	} {
		code, stdout, stderr := execute(t, fieldsCmd(), c.args...)
		if code != c.code || !strings.Contains(stdout+stderr, c.want) {
			t.Errorf("fields %v: got exit %d, %.300s; want exit %d with %q", c.args, code, stdout+stderr, c.code, c.want)
		}
	}
}

// explain refuses what run refuses, at the scenario's line.
func TestExplainRefusesAtTheLine(t *testing.T) {
	for old, want := range map[string]string{
		"main-2f41c894": ":2:22: engine.version: nope: is not the vllm release",
		"kind: vllm":    ":2:10: engine.kind: nope: is not an engine of this build",
		"llama-3.1-8b":  ":3:1: model: nope: is not in the catalog",
	} {
		new := strings.Replace(old, strings.TrimPrefix(old, "kind: "), "nope", 1)
		path := write(t, "s.yaml", strings.Replace(chatScenario, old, new, 1))
		if code, _, complaint := execute(t, root(), "explain", path); code != exit.Refused || !strings.Contains(complaint, path+want) {
			t.Errorf("%s: got %d, %s, want %q", new, code, complaint, want)
		}
	}
}

// The JSON names everything one way, and no number stands for a word.
func TestExplainInJSON(t *testing.T) {
	code, out, complaint := execute(t, root(), "explain", "--json", write(t, "s.yaml", chatScenario))
	if code != exit.Done {
		t.Fatal(complaint)
	}
	for _, want := range []string{`"kv_budget": [`, `"bytes_per_page": `, `"top_k": `, `"fixed_seconds": `, `"per_prompt_token": `, `"method": "`, `"launch": "eager"`, `"mode": "extend"`, `"dtype": "`, `"value": `} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s", want)
		}
	}
	if name := regexp.MustCompile(`"[^"]*[A-Z][^"]*":`).FindString(out); name != "" {
		t.Errorf("the name %s is not in snake_case", name)
	}
}
