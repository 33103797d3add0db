package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/sim/floor"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/spf13/cobra"
)

// referenceWorkloads are scenarios and the packed traces they replay.
//
//go:embed bench/*.yaml bench/*.gz
var referenceWorkloads embed.FS

// benchCmd measures the simulator's own speed on a reference workload.
func benchCmd() *cobra.Command {
	q := benchQuery{}
	c := &cobra.Command{
		Use:   "bench --workload NAME",
		Short: "requests per CPU second on a reference workload, beside a bare loop in the same process",
		Long: "Time is user and system CPU of this process, the least of the repetitions. floor_ratio is the speed relative to a bare " +
			"continuous-batching loop with the same arrivals, lengths and limits (package sim/floor). Workloads: " + strings.Join(benchNames(), ", ") + ".",
		Example: "  blis bench --workload w1 --json\n  blis bench --workload w1-4 --requests 100000 --prefix-caching=false",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := q.run(cmd.Context())
			if err != nil {
				return err
			}
			return f.print(cmd.OutOrStdout(), q.json)
		},
	}
	f := c.Flags()
	f.StringVar(&q.workload, "workload", "w1", "reference workload")
	f.IntVar(&q.requests, "requests", 20000, "requests to simulate")
	f.IntVar(&q.repeat, "repeat", 3, "repetitions; the fastest counts")
	f.BoolVar(&q.prefix, "prefix-caching", true, "run the engine with its prefix cache")
	f.BoolVar(&q.json, "json", false, "print the figures as JSON")
	return c
}

type benchQuery struct {
	workload         string
	requests, repeat int
	prefix, json     bool
}

// benchFigures are what a measurement gives.
type benchFigures struct {
	Workload        string  `json:"workload"`
	PrefixCaching   bool    `json:"prefix_caching"`
	Requests        int     `json:"requests"`
	Rate            float64 `json:"requests_per_cpu_second"`
	PerStep         float64 `json:"ns_per_step"`
	PerEvent        float64 `json:"ns_per_event"`
	Bytes           float64 `json:"bytes_per_request"` // allocated
	StepsPerRequest float64 `json:"steps_per_request"`
	EventsPer       float64 `json:"events_per_request"`
	FloorRatio      float64 `json:"floor_ratio"`
	FloorPerToken   float64 `json:"floor_ns_per_token"`
	CPU             float64 `json:"cpu_seconds"`
	Peak            float64 `json:"peak_bytes"` // of the process so far
}

func benchNames() []string {
	entries, _ := referenceWorkloads.ReadDir("bench") // embedded: cannot fail
	var out []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".yaml"); ok {
			out = append(out, name)
		}
	}
	return out
}

// scenario reads the workload and sets how much of it runs.
func (q *benchQuery) scenario() (*spec.Scenario, error) {
	if !slices.Contains(benchNames(), q.workload) {
		return nil, &diag.Refusal{Field: "--workload", Value: q.workload, Problem: "is not a reference workload", Accept: diag.OneOf(q.workload, benchNames())}
	}
	if q.requests < 1 || q.repeat < 1 {
		return nil, &diag.Refusal{Field: "--requests, --repeat", Value: fmt.Sprint(q.requests, " ", q.repeat), Problem: "measures nothing", Accept: "1 or more"}
	}
	name := "bench/" + q.workload + ".yaml"
	text, err := referenceWorkloads.ReadFile(name)
	if err != nil {
		return nil, err
	}
	bounded := strings.Replace(string(text), "frame: {", fmt.Sprintf("frame: {stop: {requests: %d}, ", q.requests), 1)
	s, err := spec.Parse(name, []byte(bounded))
	if err == nil {
		s.Engine.Args["enable-prefix-caching"] = q.prefix
	}
	return s, err
}

func (q *benchQuery) run(ctx context.Context) (*benchFigures, error) {
	s, err := q.scenario()
	if err != nil {
		return nil, err
	}
	w, err := world.Open(world.Paths{})
	if err != nil {
		return nil, err
	}
	var r *spec.Result
	var before, after runtime.MemStats
	cpu, err := fastest(q.repeat, func() error {
		runtime.GC()
		runtime.ReadMemStats(&before)
		world := w.Sim()
		world.Files = traces{referenceWorkloads}
		r, err = simulate(ctx, q.workload, s, world)
		runtime.ReadMemStats(&after)
		return err
	})
	if err != nil {
		return nil, err
	}
	n := float64(r.Requests.Created)
	f := &benchFigures{Workload: q.workload, PrefixCaching: q.prefix, Requests: int(r.Requests.Created), Rate: n / cpu, CPU: cpu,
		Bytes: float64(after.TotalAlloc-before.TotalAlloc) / n, Peak: peakBytes()}
	steps := int64(0)
	for _, e := range r.Engines {
		steps += e.Steps
	}
	f.StepsPerRequest, f.PerStep = float64(steps)/n, cpu*1e9/float64(steps)
	f.EventsPer, f.PerEvent = float64(r.Events.Transitions)/n, cpu*1e9/float64(r.Events.Transitions)
	return f, q.compare(ctx, f, s, w)
}

// compare runs the bare loop on what one instance got.
func (q *benchQuery) compare(ctx context.Context, f *benchFigures, s *spec.Scenario, w *world.World) error {
	rec := new(loadRecorder)
	world := w.Sim()
	world.Observer, world.Files = rec, traces{referenceWorkloads}
	if _, err := simulate(ctx, q.workload, s, world); err != nil {
		return err
	}
	l := rec.load(s)
	var c floor.Count
	cpu, err := fastest(q.repeat, func() error { c = floor.Run(l); return nil })
	if err != nil {
		return err
	}
	f.FloorPerToken = cpu * 1e9 / float64(c.Output)
	f.FloorRatio = f.Rate * cpu / float64(len(l.Arrivals))
	return nil
}

// fastest is the least CPU time of n runs, in seconds.
func fastest(n int, run func() error) (float64, error) {
	best := 0.0
	for i := range n {
		began := cpuSeconds()
		if err := run(); err != nil {
			return 0, err
		}
		if t := cpuSeconds() - began; i == 0 || t < best {
			best = t
		}
	}
	return max(best, 1e-9), nil
}

func (f *benchFigures) print(w io.Writer, asJSON bool) error {
	if asJSON {
		b, err := canon.Indent(f)
		if err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	}
	_, err := fmt.Fprintf(w, "%s, prefix caching %v, %d requests: %.0f requests per CPU second, %.0f ns a step (%.2f a request), %.0f ns an event (%.1f a request), %.0f bytes a request\nbare loop: %.1f ns a token; floor ratio %.2f\n",
		f.Workload, f.PrefixCaching, f.Requests, f.Rate, f.PerStep, f.StepsPerRequest, f.PerEvent, f.EventsPer, f.Bytes, f.FloorPerToken, f.FloorRatio)
	return err
}
