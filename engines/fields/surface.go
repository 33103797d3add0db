package fields

import (
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

// Support is the status of a registered feature (X9).
type Support string

const (
	Ported     Support = "modelled"     // names what covers it
	Refused    Support = "refused"      // by name, until it is modelled
	OutOfScope Support = "out_of_scope" // for one of Reasons
)

// Reasons are the only grounds for OutOfScope: hardware that is not simulated, no
// work the simulator prices, deprecated upstream.
var Reasons = []string{"hardware", "no_priced_work", "deprecated"}

// Item is one registered feature: a connector, tier, KV-cache spec, speculative
// method, policy, backend, metric family or event type.
type Item struct {
	Table    string  `json:"table"` // upstream's registration table
	Name     string  `json:"name"`
	Class    string  `json:"class,omitempty"` // the class the name maps to, where it differs
	Status   Support `json:"status"`
	Reason   string  `json:"reason,omitempty"` // of OutOfScope
	Evidence string  `json:"evidence"`
	Values   []Value `json:"values,omitempty"` // of an enumeration, where they differ from Status
	At       string  `json:"at,omitempty"`     // upstream file and line
}

// Value is one member of an enumerated item.
type Value struct {
	Name   string  `json:"name"`
	Status Support `json:"status"`
}

// Surface is an engine's surface list.
type Surface struct {
	Engine  string `json:"engine"`
	Version string `json:"version"`
	Items   []Item `json:"items"`
}

// ParseSurface reads and checks a surface list; a table names an item once.
func ParseSurface(file string, data []byte) (*Surface, error) {
	s := new(Surface)
	if err := strict.JSON(file, data, s); err != nil {
		return nil, err
	}
	seen := map[[3]string]bool{}
	for i := range s.Items {
		it := &s.Items[i]
		bad := func(field, value, problem, accept string) error {
			return &diag.Refusal{File: file, Field: it.Table + "/" + it.Name + "." + field, Value: value, Problem: problem, Accept: accept, Rule: "X9"}
		}
		key := [3]string{it.Table, it.Name, it.At}
		states := []string{string(Ported), string(Refused), string(OutOfScope)}
		switch {
		case seen[key]:
			return nil, bad("name", it.Name, "is listed twice", "")
		case !slices.Contains(states, string(it.Status)):
			return nil, bad("status", string(it.Status), "unknown status", diag.OneOf(string(it.Status), states))
		case it.Evidence == "":
			return nil, bad("evidence", "", "is empty", "what covers it, what it blocks, or why it is out of scope")
		case (it.Status == OutOfScope) != (it.Reason != ""), it.Reason != "" && !slices.Contains(Reasons, it.Reason):
			return nil, bad("reason", it.Reason, "does not match the status", "out_of_scope with "+diag.OneOf(it.Reason, Reasons))
		}
		seen[key] = true
	}
	return s, nil
}

// Counts is how many items have each status.
func (s *Surface) Counts() map[Support]int {
	n := map[Support]int{}
	for i := range s.Items {
		n[s.Items[i].Status]++
	}
	return n
}

// Counts is how many fields have each status.
func (l *List) Counts() map[Status]int {
	n := map[Status]int{}
	for i := range l.Fields {
		n[l.Fields[i].Status]++
	}
	return n
}
