package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

func TestCatalogCommand(t *testing.T) {
	keep.Rule(t, "SIM-6")
	missing := filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		args string
		code int
		want string // in standard output, or in standard error when the code is not 0
	}{
		{"resolve inferencex zhipuai/GLM-5", exit.Done, `{"found":true,"kind":"model","name":"glm-5"}`},
		{"resolve inferencex b200_sxm", exit.Done, `{"found":true,"kind":"chip","name":"b200_sxm"}`},
		{"resolve inferencex nvidia/Kimi-K2.5-NVFP4", exit.Done, `"checkpoint":"nvidia/Kimi-K2.5-NVFP4"`},
		{"resolve inferencex nobody/Nothing", exit.Done, `{"found":false}`},
		{"resolve inferencex", exit.Usage, "two arguments, SOURCE (such as inferencex) and NAME; 1 given"},
		{"list", exit.Done, "gpt-oss-120b"},
		{"show h100_sxm", exit.Done, "# hardware/h100_sxm.yaml\nschema: blis.chip/v1\n"},
		{"show glm-5", exit.Done, "# models/glm-5/model.yaml\n"},
		{"show h100_sx", exit.Refused, "did you mean h100_sxm?"},
		{"hash", exit.Done, `{"base":"`},
		{"hash --catalog " + missing, exit.Refused, missing + ": cannot be opened as a data directory"},
		{"list --catalog-overlay " + missing, exit.Refused, missing + ": cannot be opened as a data directory"},
		{"derive " + missing, exit.Usage, "derive writes under --catalog DIR"},
		{"derive --check " + missing, exit.Refused, "deepseek-ai--DeepSeek-R1_config.json"},
	} {
		var out, errs bytes.Buffer
		cmd := catalogCmd()
		code := exit.Run(context.Background(), cmd, strings.Fields(c.args), &out, &errs)
		text := out.String()
		if code != exit.Done {
			text = errs.String()
		}
		if code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("catalog %s: got exit %d, %q; want exit %d with %q", c.args, code, text, c.code, c.want)
		}
	}
}

// TestCatalogDerive is the round trip of a user's own model: derive writes the graph,
// check agrees, an edit by hand fails the check.
func TestCatalogDerive(t *testing.T) {
	tree, vendor := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		tree + "/sources/here.yaml":      "schema: blis.source/v1\nid: here\ntitle: here\nrepository: a/b\nrevision: c\npath: d\nlicence: MIT\n",
		tree + "/models/tiny/model.yaml": "schema: blis.model/v1\nname: tiny\ntitle: Tiny\nparameters:\n  total: {value: 45400, tolerance: 0.01}\n  sources: [here]\nderived_from: {source: here, checkpoints: [me/tiny]}\ncheckpoints:\n  - {name: me/tiny, precisions: [bf16]}\n",
		vendor + "/me--tiny_config.json": `{"architectures":["LlamaForCausalLM"],"model_type":"llama","hidden_size":64,"intermediate_size":128,"num_hidden_layers":1,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":64,"max_position_embeddings":512,"hidden_act":"silu","rope_theta":10000}`,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) (int, string) {
		var out, errs bytes.Buffer
		code := exit.Run(context.Background(), catalogCmd(), append(args, "--catalog", tree), &out, &errs)
		return code, out.String() + errs.String()
	}
	if code, text := run("derive", vendor); code != exit.Done || text != "models/tiny/graph.yaml\n" {
		t.Fatalf("derive: got exit %d, %q", code, text)
	}
	if code, text := run("derive", "--check", vendor); code != exit.Done || text != "1 graphs derived, 0 differ\n" {
		t.Errorf("check: got exit %d, %q", code, text)
	}
	if code, text := run("list"); code != exit.Done {
		t.Errorf("list: got exit %d, %q", code, text)
	}
	graph := tree + "/models/tiny/graph.yaml"
	data, err := os.ReadFile(graph)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(graph, bytes.Replace(data, []byte("vocab: 64"), []byte("vocab: 65"), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, text := run("derive", "--check", vendor); code != exit.Failed || !strings.Contains(text, "committed vocab: 65\n  derived   vocab: 64") {
		t.Errorf("check after an edit: got exit %d, %q; want 3 and both lines", code, text)
	}
}

// The program says what it was built from, and every group of commands refuses a word it does not know.
func TestRootAnswersForEveryCommand(t *testing.T) {
	if code, out, _ := execute(t, root(), "--version"); code != exit.Done || !strings.HasPrefix(out, "blis version unreleased, commit ") {
		t.Errorf("--version: got %d, %q", code, out)
	}
	for _, group := range []string{"catalog", "registry", "oracle", "invariants", "trace", "ledger"} {
		if code, _, complaint := execute(t, root(), group, "foo"); code != exit.Usage || !strings.Contains(complaint, `unknown command "foo" for "blis `+group) {
			t.Errorf("%s foo: got %d, %q", group, code, complaint)
		}
	}
}
