package main

import (
	"fmt"
	"strconv"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"
)

// scenarioCmd turns a launch command into a scenario.
func scenarioCmd() *cobra.Command {
	var q scenarioQuery
	c := &cobra.Command{
		Use:   "scenario --from-args 'vllm serve ...' --hardware CHIP",
		Short: "turn a launch command or a Kubernetes manifest into a scenario",
		Long: "Of the engines, only vllm reads launch commands. The words are read as the engine's own parser reads them and refused in its words. The scenario is checked by resolving it; " +
			"its workload is a closed loop to be replaced by yours.",
		Example: "  blis scenario --from-args 'vllm serve openai/gpt-oss-120b -tp 2' --hardware h200_sxm > chat.yaml\n" +
			"  blis scenario --from-args deployment.yaml --hardware h100_sxm",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := q.scenario()
			if err != nil {
				return err
			}
			b, err := yaml.Marshal(s)
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(b)
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&q.from, "from-args", "", "the command, or a file with it, with a list of container arguments or with a manifest")
	f.StringVar(&q.engine, "engine", "vllm", "engine port: vllm, the one that reads launch commands")
	f.StringVar(&q.hardware, "hardware", "", "catalog chip")
	f.IntVar(&q.concurrency, "concurrency", 16, "requests outstanding")
	f.IntVar(&q.prompt, "prompt", 1024, "prompt tokens of a request")
	f.IntVar(&q.output, "output", 256, "output tokens of a request")
	q.data.add(c)
	for _, name := range []string{"from-args", "hardware"} {
		c.MarkFlagRequired(name)
	}
	return c
}

type scenarioQuery struct {
	from, engine, hardware      string
	concurrency, prompt, output int
	data                        dataFlags
}

func (q *scenarioQuery) scenario() (*spec.Scenario, error) {
	w, err := world.Open(q.data.Paths)
	if err != nil {
		return nil, err
	}
	kind, err := w.Kind(q.engine)
	if err != nil {
		return nil, err
	}
	parser, ok := kind.(engines.LaunchParser)
	if !ok {
		return nil, &diag.Refusal{Field: "engine", Value: q.engine, Problem: "reads no launch command", Accept: "vllm"}
	}
	words, env, err := launchWords(q.from)
	if err != nil {
		return nil, err
	}
	l, err := parser.ParseLaunch(words)
	if err != nil {
		return nil, err
	}
	for name, v := range env { //determinism:any-order into a map
		l.Env[name] = v
	}
	ref, ok := w.Catalog.Resolve("", l.Model)
	if !ok || ref.Kind != "model" {
		return nil, &diag.Refusal{Field: "model", Value: l.Model, Problem: "is not in the catalog", Accept: "a checkpoint or model `blis catalog list` names", Rule: "SUB-3"}
	}
	s := q.base(kind, l)
	s.Model, s.Checkpoint = ref.Name, ref.Checkpoint
	if err := s.Complete(); err != nil {
		return nil, err
	}
	settings, _, err := explain(w, s)
	if err != nil {
		return nil, err
	}
	return s, q.fits(settings)
}

// fits refuses requests that the engine would reject, all of them alike.
func (q *scenarioQuery) fits(settings []engines.Resolved) error {
	for _, s := range settings {
		if most, err := strconv.Atoi(s.Value); s.Name == "max-model-len" && err == nil && q.prompt+q.output > most {
			return &diag.Refusal{Field: "--prompt, --output", Value: fmt.Sprint(q.prompt, ", ", q.output), Problem: "are longer than the model's sequences", Accept: fmt.Sprintf("at most %d tokens together, max-model-len", most)}
		}
	}
	return nil
}

// base is the scenario around a launch: a closed loop of equal requests.
func (q *scenarioQuery) base(kind engines.Kind, l *engines.CommandLine) *spec.Scenario {
	fixed := func(n int) *spec.Distribution {
		v := float64(n)
		return &spec.Distribution{Fixed: &v}
	}
	return &spec.Scenario{
		Schema: spec.Schema, Hardware: q.hardware,
		Engine: spec.Engine{Kind: kind.Name(), Version: kind.Upstream().Version, Args: l.Args, Env: l.Env},
		Workload: spec.Workload{Clients: []spec.Client{{
			Name: "clients", Arrivals: spec.Arrivals{Closed: &spec.ClosedLoop{Concurrency: q.concurrency}},
			Requests: 10 * q.concurrency, Prompt: fixed(q.prompt), Output: fixed(q.output),
		}}},
	}
}
