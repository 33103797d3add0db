package sim

import (
	"io/fs"
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
	labels  []workload.Label
	drawn   []string      // what is
	fixed   string        // why nothing is, where that is so
	data    []spec.Source // files read
}

func openInputs(s *spec.Scenario, files fs.FS) (*inputs, error) {
	w := &s.Workload
	switch {
	case w.InferenceX != nil:
		return &inputs{sources: []workload.Source{client.New(w.InferenceX)}, labels: []workload.Label{{}},
			fixed: "the client's own generator fixes every request"}, nil
	case w.Trace != nil:
		return openTrace(w.Trace, files)
	}
	src, labels := workload.New(w.Clients, s.Frame.Seed)
	in := &inputs{sources: src, labels: labels, fixed: "every input is fixed"}
	if workload.Random(w.Clients) {
		in.drawn = append(in.drawn, "arrivals, lengths or sessions")
	}
	return in, nil
}

// random is what a Result says is drawn.
func (in *inputs) random() string {
	if len(in.drawn) == 0 {
		return "none: " + in.fixed
	}
	return strings.Join(in.drawn, ", and ") + ", from substreams of the frame's seed"
}

func openTrace(t *spec.Trace, files fs.FS) (*inputs, error) {
	const field = "workload.trace.path"
	if files == nil {
		return nil, &diag.Refusal{Field: field, Value: t.Path, Problem: "cannot be opened here", Accept: "a run that is given files", Rule: "SIM-2"}
	}
	data, err := fs.ReadFile(files, t.Path)
	if err != nil {
		return nil, &diag.Refusal{Field: field, Value: t.Path, Problem: "cannot be read: " + err.Error(), Rule: "SIM-2"}
	}
	sum := canon.Sum(data)
	if t.SHA256 != "" && t.SHA256 != sum {
		return nil, &diag.Refusal{Field: "workload.trace.sha256", Value: t.SHA256, Problem: "is not the file's", Accept: sum, Rule: "SIM-10"}
	}
	src, labels, err := workload.OpenTrace(t.Path, data, t.Scale)
	if err != nil {
		return nil, err
	}
	return &inputs{sources: src, labels: labels, fixed: "a trace is replayed",
		data: []spec.Source{{Kind: "trace", Origin: t.Path, SHA256: sum}}}, nil
}
