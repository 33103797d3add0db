package vllm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

func TestParseLaunch(t *testing.T) {
	keep.Rule(t, "X1")
	k := newKind(t)
	for _, c := range []struct{ line, model, args, env string }{
		{"vllm serve openai/gpt-oss-120b -tp 2 --max-model-len 10k --no-enable-prefix-caching", "openai/gpt-oss-120b",
			`{"enable-prefix-caching":false,"max-model-len":10000,"tensor-parallel-size":2}`, `{}`},
		{"VLLM_MXFP4_USE_MARLIN=1 vllm serve m --max_num_batched_tokens=8K --async-scheduling", "m",
			`{"async-scheduling":true,"max-num-batched-tokens":8192}`, `{"VLLM_MXFP4_USE_MARLIN":"1"}`},
		{`python3 -m vllm.entrypoints.openai.api_server --model m --compilation-config {"cudagraph_mode":"PIECEWISE"}`, "m",
			`{"compilation-config":{"cudagraph_mode":"PIECEWISE"}}`, `{}`},
		{"vllm serve m -cc.pass_config.fuse_allreduce_rms=true --cudagraph-capture-sizes 1 2 4 --max-model-len auto -O2", "m",
			`{"compilation-config.pass_config.fuse_allreduce_rms":true,"cudagraph-capture-sizes":[1,2,4],"max-model-len":-1,"optimization-level":"2"}`, `{}`},
		{"vllm serve m --tensor 2 --no-enable-prefix-c --max_num_se=8", "m", `{"enable-prefix-caching":false,"max-num-seqs":8,"tensor-parallel-size":2}`, `{}`},
		{"--model m --num-gpu-blocks-override -1", "m", `{"num-gpu-blocks-override":-1}`, `{}`},
	} {
		l, err := k.ParseLaunch(strings.Fields(c.line))
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		args, _ := json.Marshal(l.Args)
		env, _ := json.Marshal(l.Env)
		if l.Model != c.model || string(args) != c.args || string(env) != c.env {
			t.Errorf("%s: got %s %s %s, want %s %s %s", c.line, l.Model, args, env, c.model, c.args, c.env)
		}
	}
}

func TestParseLaunchRefuses(t *testing.T) {
	k := newKind(t)
	for _, c := range []struct{ line, want string }{
		{"vllm serve m --tensor-paralel-size 2", "unrecognized arguments: --tensor-paralel-size"},
		{"vllm serve", "the following arguments are required: model"},
		{"vllm serve m --max-num-seqs", "--max-num-seqs: expected one argument"},
		{"vllm serve m --max-num-seqs many", "invalid int value: 'many'"},
		{"vllm serve m --max-model-len 1.5K", "Decimals are not allowed with binary suffixes like K. Did you mean to use 1.5k instead?"},
		{"vllm serve m --max-num 4", "ambiguous option: --max-num could match --max-num-batched-tokens, --max-num-scheduled-tokens, --max-num-seqs"},
		{"vllm serve m --disable-log-requests", "unrecognized arguments: --disable-log-requests (removed before the modelled commit"},
		{"vllm serve m extra", "unrecognized arguments: extra"},
	} {
		if _, err := k.ParseLaunch(strings.Fields(c.line)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.line, err, c.want)
		}
	}
}
