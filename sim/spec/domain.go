package spec

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// The validity domain is where held-out measured runs exist (§8.9): closed loops of
// the InferenceX client on one engine instance, cell by cell. domain.json holds the
// cells; harness/domain_test.go derives it from the scenarios of the ledger's anchor
// units, no measured value among them, and fails on drift.
//
//go:embed domain.json
var domainJSON []byte

// DomainCell is the range that held-out runs of one engine, model, chip and layout span.
type DomainCell struct {
	Engine      string   `json:"engine"`
	Model       string   `json:"model"`
	Hardware    string   `json:"hardware"`
	Layout      Layout   `json:"layout"`
	Runs        int      `json:"runs"`
	Lengths     [][2]int `json:"lengths"`     // nominal prompt and output tokens that occur together
	Concurrency [2]int   `json:"concurrency"` // least and most
}

// Layout is how an instance is spread: its parallel widths, 1 when not used, and nodes.
type Layout struct {
	Tensor   int `json:"tensor"`
	Pipeline int `json:"pipeline"`
	Data     int `json:"data"`
	Expert   int `json:"expert"`
	Context  int `json:"context"`
	Nodes    int `json:"nodes"`
}

// String names the widths in use.
func (l Layout) String() string {
	out := fmt.Sprintf("tensor %d", l.Tensor)
	for _, w := range []struct {
		name  string
		width int
	}{{"pipeline", l.Pipeline}, {"data", l.Data}, {"expert", l.Expert}, {"context", l.Context}, {"nodes", l.Nodes}} {
		if w.width > 1 {
			out += fmt.Sprintf(", %s %d", w.name, w.width)
		}
	}
	return out
}

var domain = sync.OnceValues(func() (cells []DomainCell, err error) {
	err = json.Unmarshal(domainJSON, &cells)
	return cells, err
})

// Domain lists the cells.
func Domain() ([]DomainCell, error) { return domain() }

// Judge says whether a complete scenario lies inside the validity domain with the layout
// its engine resolved, and names the first reason why not.
func Judge(s *Scenario, l Layout) (Validity, error) {
	cells, err := domain()
	if err != nil {
		return Validity{}, err
	}
	outside := func(format string, args ...any) (Validity, error) {
		return Validity{Inside: "outside", Statement: "no held-out measured run covers it: " + fmt.Sprintf(format, args...)}, nil
	}
	same := func(c DomainCell) bool {
		return c.Engine == s.Engine.Kind && c.Model == s.Model && c.Hardware == s.Hardware
	}
	i := slices.IndexFunc(cells, func(c DomainCell) bool { return same(c) && c.Layout == l })
	x := s.Workload.InferenceX
	switch {
	case i < 0 && slices.ContainsFunc(cells, same):
		return outside("%s of %s on %s with the layout %s", s.Engine.Kind, s.Model, s.Hardware, l)
	case i < 0:
		return outside("%s of %s on %s", s.Engine.Kind, s.Model, s.Hardware)
	case s.Cluster.Instances > 1:
		return outside("%d instances behind a router", s.Cluster.Instances)
	case x == nil:
		return outside("a workload other than the InferenceX client's closed loop")
	}
	c := &cells[i]
	switch {
	case !slices.Contains(c.Lengths, [2]int{x.ISL, x.OSL}):
		return outside("%d prompt and %d output tokens", x.ISL, x.OSL)
	case x.Concurrency < c.Concurrency[0] || x.Concurrency > c.Concurrency[1]:
		return outside("a concurrency of %d, measured are %d to %d", x.Concurrency, c.Concurrency[0], c.Concurrency[1])
	}
	return Validity{Inside: "inside", Statement: fmt.Sprintf("%d held-out runs of this engine, model, chip and layout at concurrencies %d to %d",
		c.Runs, c.Concurrency[0], c.Concurrency[1])}, nil
}
