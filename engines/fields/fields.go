// Package fields is the shape of an engine's field list (every configuration
// field and environment variable of the modelled release, each with one status)
// and of its surface list (every registered feature). The lists themselves are
// data of each engine.
//
// In: fields.json, surface.json. Out: look-ups by upstream name. Rules kept: X9,
// VLM-3, SGL-3, VLM-6, COV-3.
package fields

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

// Status of a field.
type Status string

const (
	Modelled    Status = "modelled"
	Inert       Status = "inert"        // proven without effect on decisions and prices
	NotModelled Status = "not_modelled" // refused when stated, unless a rule stands in
	Removed     Status = "removed"      // the modelled commit no longer has it, launches in the data do
)

// Statuses lists the closed set.
func Statuses() []string {
	return []string{string(Modelled), string(Inert), string(NotModelled), string(Removed)}
}

// Field is one row of a field list. A key inside a JSON-valued argument has a row
// of its own, named by its path ("compilation-config.pass_config.fuse_norm_quant");
// keys without one are covered by the nearest row above them.
type Field struct {
	Name     string `json:"name"`             // the long argument name without leading dashes, or the variable's name
	Kind     string `json:"kind"`             // "argument", "environment", "config"
	Config   string `json:"config,omitempty"` // the upstream class.field it sets
	Type     string `json:"type,omitempty"`
	Default  string `json:"default,omitempty"`
	Status   Status `json:"status"`
	Evidence string `json:"evidence"` // modelled: a test; inert: the argument; else why and what it does
	// Loads says that the value names code to load. Code outside the engine's own
	// package is not visible here (§11.4).
	Loads bool `json:"loads_code,omitempty"`
	// Values are the value classes the evidence covers; empty means every value.
	Values []string  `json:"values,omitempty"`
	Rule   *Estimate `json:"rule,omitempty"`
	// Earlier is the default that releases before this one had, for runs that left
	// the field out.
	Earlier *Earlier `json:"earlier,omitempty"`
}

// Earlier is a default that a later release changed: a modelled release takes the
// new one, so a run of an older one must state its own.
type Earlier struct {
	Before string `json:"before"` // first release with the new default, "1.2.0"
	Value  string `json:"value"`
	Reason string `json:"reason"` // how the old default is known
}

var release = regexp.MustCompile(`^\d+\.\d+\.\d+$`)

// Estimate is an estimation rule (§11.2): what takes the place of a recorded value
// the engine does not model, or of a value the run did not record.
type Estimate struct {
	// Do is "unset" (leave the field out), "set" (write Field = Value), "rename"
	// (carry the recorded value under Field) or "no_effect" (dropped: the setting
	// changes no decision and no price).
	Do        string   `json:"do"`
	Field     string   `json:"field,omitempty"`
	Value     string   `json:"value,omitempty"`
	Reason    string   `json:"reason"`
	Preserves string   `json:"preserves,omitempty"`  // what the upstream resolves identically
	ValidWhen []string `json:"valid_when,omitempty"` // recorded values the stand-in is exact for; empty is every value
}

// List is a field list.
type List struct {
	Engine   string  `json:"engine"`
	Version  string  `json:"version"`
	Coverage string  `json:"coverage"` // what the inventory leaves out
	Fields   []Field `json:"fields"`
	// Aliases are the other names of arguments that the engine takes, to the names of the list.
	Aliases map[string]string `json:"-"`
	byName  map[string]int
}

// Parse reads and checks a field list; names are unique and sorted.
func Parse(file string, data []byte) (*List, error) {
	l := new(List)
	if err := strict.JSON(file, data, l); err != nil {
		return nil, err
	}
	l.byName = make(map[string]int, len(l.Fields))
	for i, f := range l.Fields {
		if err := f.check(); err != nil {
			return nil, diag.In(file, err)
		}
		if _, twice := l.byName[spelling(f.Name)]; twice {
			return nil, &diag.Refusal{File: file, Field: f.Name, Problem: "is listed twice", Rule: "X9"}
		}
		l.byName[spelling(f.Name)] = i
	}
	return l, nil
}

// Lookup finds a field by its upstream name; the upstreams' parsers take - and _
// in a name alike.
func (l *List) Lookup(name string) (*Field, bool) {
	i, ok := l.byName[spelling(name)]
	if !ok {
		return nil, false
	}
	return &l.Fields[i], true
}

// Long is the name that an alias stands for; any other name is itself.
func (l *List) Long(name string) string {
	if full, ok := l.Aliases[spelling(name)]; ok {
		return full
	}
	return name
}

func spelling(name string) string { return strings.ReplaceAll(name, "_", "-") }

func (f *Field) check() error {
	bad := func(field, value, problem, accept string) error {
		return &diag.Refusal{Field: f.Name + "." + field, Value: value, Problem: problem, Accept: accept, Rule: "X9"}
	}
	if !slices.Contains(Statuses(), string(f.Status)) {
		return bad("status", string(f.Status), "unknown status", diag.OneOf(string(f.Status), Statuses()))
	}
	if f.Evidence == "" {
		return bad("evidence", "", fmt.Sprintf("is empty for a field that is %s", f.Status), "a test, an argument, or why it is not modelled")
	}
	if r := f.Rule; r != nil {
		if !slices.Contains(ruleKinds, r.Do) {
			return bad("rule.do", r.Do, "unknown rule", diag.OneOf(r.Do, ruleKinds))
		}
		if r.Reason == "" {
			return bad("rule.reason", "", "is empty", "why the stand-in is the closest")
		}
		if r.Do == "no_effect" && r.Preserves == "" {
			return bad("rule.preserves", "", "is empty", "what stays the same without the setting; unset, where something may not")
		}
	}
	if e := f.Earlier; e != nil {
		if !release.MatchString(e.Before) {
			return bad("earlier.before", e.Before, "is not a release", "the first release with the new default, as 1.2.0")
		}
		if f.Status != Modelled || e.Value == "" || e.Reason == "" {
			return bad("earlier", e.Value, "needs a modelled field, a value and a reason", "how the old default is known")
		}
	}
	return nil
}

var ruleKinds = []string{"unset", "set", "rename", "no_effect"}
