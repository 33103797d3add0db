package spec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/sim/metric"
)

// Complete fills every default and checks the whole. It is the only validator of
// a scenario, whether it was read from a file or built in Go.
func (s *Scenario) Complete() error {
	s.defaults()
	return first(
		oneOf("schema", s.Schema, []string{Schema}),
		required("engine.kind", s.Engine.Kind), required("engine.version", s.Engine.Version),
		required("model", s.Model), required("hardware", s.Hardware),
		spanInstances.check("cluster.instances", float64(s.Cluster.Instances)), spanNodes.check("cluster.nodes", float64(s.Cluster.Nodes)),
		oneOf("router.policy", s.Router.Policy, Policies()),
		s.Workload.check(), s.Frame.check(), s.together(),
	)
}

func (s *Scenario) defaults() {
	orInt(&s.Cluster.Instances, 1)
	orInt(&s.Cluster.Nodes, 1)
	or(&s.Router.Policy, "round_robin")
	f := &s.Frame
	or(&f.Kind, "terminating")
	or(&f.Generator, Generator)
	or(&f.Initial, "empty")
	or(&f.Drain, "measured")
	or(&f.Unfinished, "excluded")
	if f.Accept == nil {
		f.Accept = &Accept{Failed: 0.05, Unfinished: 1}
	}
	if len(f.Scopes) == 0 {
		f.Scopes = []string{"cluster"}
	}
	s.Workload.defaults()
}

func (f *Frame) check() error {
	errs := []error{
		oneOf("frame.kind", f.Kind, Kinds()),
		oneOf("frame.generator", f.Generator, []string{Generator}),
		oneOf("frame.initial_state", f.Initial, []string{"empty"}),
		oneOf("frame.drain", f.Drain, Drains()),
		oneOf("frame.unfinished", f.Unfinished, []string{"excluded"}),
		spanSeconds.check("frame.warmup.seconds", f.Warmup.Seconds), within("frame.warmup.requests", f.Warmup.Requests, 0, MaxCount),
		spanSeconds.check("frame.stop.horizon", f.Stop.Horizon), within("frame.stop.requests", f.Stop.Requests, 0, MaxCount),
		share("frame.accept.failed", f.Accept.Failed), share("frame.accept.unfinished", f.Accept.Unfinished),
		spanFactor.check("frame.accept.concurrency", f.Accept.Concurrency),
	}
	if f.Warmup.Seconds > 0 && f.Warmup.Requests > 0 {
		errs = append(errs, refuse("frame.warmup", "", "states two rules", "requests or seconds"))
	}
	if f.Kind == "terminating" && f.Warmup != (Warmup{}) {
		errs = append(errs, refuse("frame.warmup", "", "is stated for a terminating run, which leaves out nothing at its start", "frame.kind steady_state, or the workload's own warm-up requests"))
	}
	for i, id := range f.Metrics {
		errs = append(errs, once(fmt.Sprintf("frame.metrics[%d]", i), f.Metrics, i))
		if _, err := metric.Lookup(id); err != nil {
			errs = append(errs, rename(err, fmt.Sprintf("frame.metrics[%d]", i)))
		}
	}
	for i, sc := range f.Scopes {
		at := fmt.Sprintf("frame.scopes[%d]", i)
		errs = append(errs, oneOf(at, sc, Scopes()), once(at, f.Scopes, i))
	}
	return first(errs...)
}

// together checks what no single block can: that the run ends, and that a fabric has
// nodes to join.
func (s *Scenario) together() error {
	if s.Cluster.Fabric != "" && s.Cluster.Nodes < 2 {
		return refuse("cluster.fabric", s.Cluster.Fabric, "joins the nodes of an instance, and there is one", "cluster.nodes of 2 or more")
	}
	if s.Frame.Stop.Requests > 0 || s.Frame.Stop.Horizon > 0 {
		return nil
	}
	for i, c := range s.Workload.Clients {
		if c.Requests == 0 {
			return refuse("frame.stop", "", fmt.Sprintf("is not stated, and workload.clients[%d] never stops", i), "stop.requests, stop.horizon or requests on every client")
		}
	}
	return nil
}

func refuse(field, value, problem, accept string) error {
	return &diag.Refusal{Field: field, Value: value, Problem: problem, Accept: accept, Rule: "SIM-2"}
}

func rename(err error, field string) error {
	if r, ok := err.(*diag.Refusal); ok {
		r.Field = field
	}
	return err
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func required(field, v string) error {
	if strings.TrimSpace(v) == "" {
		return refuse(field, "", "is missing", "a value")
	}
	return nil
}

func oneOf(field, v string, set []string) error {
	if slices.Contains(set, v) {
		return nil
	}
	if v == "" {
		return refuse(field, "", "is missing", diag.OneOf(v, set))
	}
	return refuse(field, v, "is not known", diag.OneOf(v, set))
}

// once refuses entry i of list when it stands before i already.
func once(field string, list []string, i int) error {
	if slices.Contains(list[:i], list[i]) {
		return refuse(field, list[i], "is stated twice", "each once")
	}
	return nil
}

func within(field string, v, low, high int) error {
	if v < low || v > high {
		return refuse(field, strconv.Itoa(v), "is out of range", fmt.Sprintf("%d to %d", low, high))
	}
	return nil
}

func above(field string, v, low float64) error {
	if !(v > low) {
		return refuse(field, fmt.Sprint(v), "is too small", fmt.Sprintf("more than %v", low))
	}
	return nil
}

func share(field string, v float64) error {
	if !(v >= 0 && v <= 1) {
		return refuse(field, fmt.Sprint(v), "is not a share", "0 to 1")
	}
	return nil
}

func or(s *string, d string) {
	if *s == "" {
		*s = d
	}
}

func orInt(n *int, d int) {
	if *n == 0 {
		*n = d
	}
}
