package sim

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/inference-sim/accuracy-dashboard/sim/workload"
	"github.com/inference-sim/accuracy-dashboard/sim/workload/client"
)

// inputs are the scenario's clients, and the names their requests carry.
type inputs struct {
	sources []workload.Source
	clients []workload.TraceClient
	labels  []workload.Label // theirs
	drawn   []string         // what is
	fixed   string           // why nothing is, where that is so
	data    []spec.Source    // files read
}

func openInputs(s *spec.Scenario, files fs.FS) (*inputs, error) {
	w, in := &s.Workload, new(inputs)
	switch {
	case w.InferenceX != nil:
		c := client.New(w.InferenceX)
		in.sources, in.clients = []workload.Source{c}, []workload.TraceClient{{Requests: c.Left(), Concurrency: w.InferenceX.Concurrency}}
		in.fixed = "the client's own generator fixes every request"
	case w.Trace != nil:
		if err := in.openTrace(w.Trace, s.Frame.Stop.Horizon > 0, files); err != nil {
			return nil, err
		}
	default:
		in.sources, in.clients = workload.New(w.Clients, s.Frame.Seed)
		in.fixed = "every input is fixed"
		if workload.Random(w.Clients) {
			in.drawn = append(in.drawn, "arrivals, lengths or sessions")
		}
	}
	for i := range in.clients {
		in.labels = append(in.labels, in.clients[i].Label())
	}
	return in, in.check(&s.Frame)
}

// concurrency is what the closed loops keep outstanding together.
func (in *inputs) concurrency() float64 {
	n := 0
	for i := range in.clients {
		n += in.clients[i].Concurrency
	}
	return float64(n)
}

// check refuses a frame that asks of the clients what one of them does not aim at.
func (in *inputs) check(f *spec.Frame) error {
	open := slices.IndexFunc(in.clients, func(c workload.TraceClient) bool { return c.Concurrency == 0 })
	if f.Accept.Concurrency > 0 && open >= 0 {
		return &diag.Refusal{Field: "frame.accept.concurrency", Value: fmt.Sprint(f.Accept.Concurrency), Problem: fmt.Sprintf("has no target: client %d of the workload is no closed loop", open),
			Accept: "closed loops alone, or 0", Rule: "DEV-7"}
	}
	return nil
}

// random is what a Result says is drawn.
func (in *inputs) random() string {
	if len(in.drawn) == 0 {
		return "none: " + in.fixed
	}
	return strings.Join(in.drawn, ", and ") + ", from substreams of the frame's seed"
}

func (in *inputs) openTrace(t *spec.Trace, cut bool, files fs.FS) error {
	const field = "workload.trace.path"
	if files == nil {
		return &diag.Refusal{Field: field, Value: t.Path, Problem: "cannot be opened here", Accept: "a run that is given files", Rule: "SIM-2"}
	}
	data, err := fs.ReadFile(files, t.Path)
	if err != nil {
		return &diag.Refusal{Field: field, Value: t.Path, Problem: "cannot be read: " + err.Error(), Rule: "SIM-2"}
	}
	sum := canon.Sum(data)
	if t.SHA256 != "" && t.SHA256 != sum {
		return &diag.Refusal{Field: "workload.trace.sha256", Value: t.SHA256, Problem: "is not the file's", Accept: sum, Rule: "SIM-10"}
	}
	in.fixed, in.data = "a trace is replayed", []spec.Source{{Kind: "trace", Origin: t.Path, SHA256: sum}}
	in.sources, in.clients, err = workload.OpenTrace(t.Path, data, t.Scale, cut)
	return err
}
