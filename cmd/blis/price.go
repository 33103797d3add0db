package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/cost"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/registry"
	"github.com/spf13/cobra"
)

// priceCmd prices one step of one engine from the command line.
func priceCmd() *cobra.Command {
	var q priceQuery
	c := &cobra.Command{
		Use:   "price --model M --chip C [--tp N] --decode 64x8192 --extend 2048@0",
		Short: "what one step costs, part by part: time, roofline, method, interval",
		Long:  "A step beyond a limit of the engine, such as its KV cache, is priced all the same, and each such limit is named.",
		Example: `  blis price --model gpt-oss-120b --chip h200_sxm --tp 2 --decode 64x8192
  blis price --model llama-3.1-8b --chip h100_sxm --extend 2048@0 --extend 512@4096 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			answer, err := q.run()
			if err != nil {
				return err
			}
			if q.json {
				return printJSON(cmd.OutOrStdout(), answer)
			}
			return answer.draw(cmd.OutOrStdout())
		},
	}
	q.data.add(c)
	f := c.Flags()
	f.StringVar(&q.engine, "engine", "vllm", "engine that lowers the model")
	f.StringVar(&q.model, "model", "", "catalog model")
	f.StringVar(&q.checkpoint, "checkpoint", "", "checkpoint of the model; its first when left out")
	f.StringVar(&q.chip, "chip", "", "catalog chip")
	f.IntVar(&q.tensor, "tp", 1, "tensor-parallel width")
	f.IntVar(&q.nodes, "nodes", 1, "nodes of the pool")
	f.StringArrayVar(&q.args, "arg", nil, "name=value, a setting in the engine's own spelling; repeatable")
	f.StringArrayVar(&q.decode, "decode", nil, "SEQSxCONTEXT: sequences decoding at a context; repeatable")
	f.StringArrayVar(&q.extend, "extend", nil, "TOKENS@CACHED: a prompt chunk behind cached tokens; repeatable")
	f.IntVar(&q.stage, "stage", 0, "pipeline stage")
	f.BoolVar(&q.json, "json", false, "print the answer as JSON")
	for _, name := range []string{"model", "chip"} {
		c.MarkFlagRequired(name)
	}
	return c
}

type priceQuery struct {
	engine, model, checkpoint, chip string
	tensor, nodes, stage            int
	args, decode, extend            []string
	json                            bool
	data                            dataFlags
}

// priceAnswer is one step, priced and explained.
type priceAnswer struct {
	Engine   string           `json:"engine"`
	Model    string           `json:"model"`
	Chip     string           `json:"chip"`
	Ranks    int              `json:"ranks"`
	Tokens   int              `json:"tokens"`
	Padded   int              `json:"padded_tokens"`
	Launch   string           `json:"launch"`
	Seconds  quantity.Seconds `json:"seconds"`
	Device   quantity.Seconds `json:"device_seconds"`       // with Exposed, all of Seconds
	Exposed  quantity.Seconds `json:"exposed_host_seconds"` // host work the device waits for
	Ahead    quantity.Seconds `json:"ahead_host_seconds"`   // host work beside the step; only what outlasts the step is in Exposed
	Method   string           `json:"method"`
	Beyond   []string         `json:"beyond_limits,omitempty"` // why the engine would not form the step
	Parts    []pricePart      `json:"parts"`
	Catalog  string           `json:"catalog_hash"`
	Registry string           `json:"registry_hash"`
	Interval string           `json:"interval"` // what low and high of a part mean
}

type pricePart struct {
	Name      string           `json:"name"`
	Primitive string           `json:"primitive,omitempty"`
	Kernel    string           `json:"kernel,omitempty"`
	Seconds   quantity.Seconds `json:"seconds"`
	Low       quantity.Seconds `json:"low"`
	High      quantity.Seconds `json:"high"`
	Ideal     quantity.Seconds `json:"ideal_seconds,omitempty"`
	Bound     plan.Bound       `json:"bound,omitempty"`
	Flops     quantity.Flops   `json:"flops,omitempty"`
	Bytes     quantity.Bytes   `json:"bytes,omitempty"`
	Method    string           `json:"method"`
	Flags     []string         `json:"flags,omitempty"`
	Entries   []string         `json:"registry_entries"`
}

const coverage = "95% of a factor common to every price of the coefficient, from times its fit did not see, widened to hold the price itself; " +
	"not the spread of single shapes; low = high = seconds where the registry states none"

// ahead is the host work an overlapping engine does while the step before runs.
func ahead(p *plan.PoolPlan, e plan.StepEstimate) quantity.Seconds {
	if !p.Host.Overlapped {
		return 0
	}
	return e.Host
}

func (q *priceQuery) run() (*priceAnswer, error) {
	w, err := world.Open(q.data.Paths)
	if err != nil {
		return nil, err
	}
	spec, err := q.spec()
	if err != nil {
		return nil, err
	}
	kind, err := w.Kind(q.engine)
	if err != nil {
		return nil, err
	}
	settings, p, err := kind.Explain(spec, w.Environment())
	if err != nil {
		return nil, err
	}
	pricer, err := cost.New(w.Catalog, w.Registry).Compile(p)
	if err != nil {
		return nil, err
	}
	model, err := w.Catalog.Model(q.model)
	if err != nil {
		return nil, err
	}
	batch, err := q.batch(p, model.Graph.MaxPosition)
	if err != nil {
		return nil, err
	}
	step := world.Step(p, batch, q.stage)
	e := pricer.Price(step)
	a := &priceAnswer{
		Engine: q.engine, Model: q.model, Chip: q.chip, Ranks: p.Layout.Ranks(), Tokens: step.Ranks[0].Tokens(), Padded: step.Padded[0].Tokens,
		Launch: launchNames[step.Padded[0].Launch], Seconds: e.Total, Device: e.Device, Exposed: e.Total - e.Device, Ahead: ahead(p, e), Method: e.Method.String(),
		Catalog: w.Catalog.Hashes().Combined, Registry: w.Registry.Hashes().Combined,
		Interval: coverage, Beyond: beyond(settings, p, batch),
	}
	for _, part := range pricer.Explain(step) {
		kernel := ""
		if part.Kernel.Variant != "" {
			kernel = registry.ForKernel(part.Kernel)
		}
		a.Parts = append(a.Parts, pricePart{part.Name, string(part.Primitive), kernel, part.Seconds, part.Low, part.High, part.Ideal, part.Bound,
			part.Flops, part.Bytes, part.Method.String(), part.Flags, part.Entries})
	}
	return a, nil
}

var (
	launchNames = map[plan.Launch]string{plan.Eager: "eager", plan.PiecewiseGraph: "piecewise graph", plan.FullGraph: "full graph"}
	modeNames   = map[plan.StepMode]string{plan.Mixed: "mixed", plan.ExtendOnly: "extend", plan.DecodeOnly: "decode", plan.Verify: "verify", plan.Prebuilt: "prebuilt", plan.Idle: "idle"}
)

func (q *priceQuery) spec() (engines.Spec, error) {
	for _, n := range []struct {
		flag  string
		value int
	}{{"--nodes", q.nodes}, {"--tp", q.tensor}} {
		if n.value < 1 || n.value > maxWidth {
			return engines.Spec{}, outside(n.flag, strconv.Itoa(n.value), fmt.Sprintf("1 to %d", maxWidth))
		}
	}
	s := engines.Spec{Model: q.model, Checkpoint: q.checkpoint, Hardware: q.chip, Nodes: q.nodes,
		Args: map[string]any{"tensor-parallel-size": q.tensor}}
	for _, a := range q.args {
		name, value, ok := strings.Cut(a, "=")
		if !ok {
			return s, exit.UsageError(&diag.Refusal{Field: "--arg", Value: a, Problem: "has no value", Accept: "name=value"})
		}
		if f, err := strconv.ParseFloat(value, 64); err == nil && math.IsNaN(f-f) {
			return s, exit.UsageError(&diag.Refusal{Field: "--arg", Value: a, Problem: "is not finite", Accept: "a finite number"})
		}
		s.Args[name] = value
	}
	return s, nil
}
