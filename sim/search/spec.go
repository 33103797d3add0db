// Package search finds the best of a grid of serving configurations for a stated goal.
//
// In: a Spec (a base scenario, axes, what to rank by, constraints), the scenario it names,
// and a function that simulates. Out: a Report in which every arm of the grid is ranked, or
// has the reason why it is not. It runs nothing itself, opens no file and holds no list of
// settings: an engine's own field list says what may vary. Equal inputs give equal bytes, in
// whatever order the arms were simulated. Source: Target Design §5 (blis-config-search), §8.8.
// Rules kept: CFG-2 to CFG-5, DEV-8, DEV-10, DEV-11, T-M2.
package search

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
	"github.com/inference-sim/accuracy-dashboard/sim/analysis"
	"github.com/inference-sim/accuracy-dashboard/sim/metric"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// Schema is the id a specification states.
const Schema = "blis.search/1"

// Spec is what to vary and what to look for.
type Spec struct {
	Schema      string       `yaml:"schema" json:"schema"`
	Base        string       `yaml:"base" json:"base"`                                   // the scenario to vary, a path relative to this file
	Axes        []Axis       `yaml:"axes" json:"axes"`                                   // the grid is every combination, the last axis varying fastest
	Rank        []Objective  `yaml:"rank" json:"rank"`                                   // one, or two for the Pareto front of both
	Constraints []Constraint `yaml:"constraints,omitempty" json:"constraints,omitempty"` // an arm that misses one is not ranked
	Margin      float64      `yaml:"margin,omitempty" json:"margin"`                     // smallest difference that counts, as a share of the better figure, less than 1; 0 unless stated
	Seeds       int          `yaml:"seeds,omitempty" json:"seeds"`                       // replications of each arm; 5 unless stated
	Level       float64      `yaml:"level,omitempty" json:"level"`                       // confidence level; 0.95 unless stated
}

// Axis is one thing that varies: the Values of one Path, or Options that set several
// paths together.
type Axis struct {
	Name    string   `yaml:"name,omitempty" json:"name"` // the last part of Path unless stated
	Path    string   `yaml:"path,omitempty" json:"path,omitempty"`
	Values  []any    `yaml:"values,omitempty" json:"values,omitempty"`
	Options []Option `yaml:"options,omitempty" json:"options,omitempty"`
}

// Option is one choice of an axis; an empty Set leaves the base as it is.
type Option struct {
	Name string         `yaml:"name" json:"name"`
	Set  map[string]any `yaml:"set,omitempty" json:"set"` // path of the scenario to its value
}

// Objective is a figure to rank by.
type Objective struct {
	Metric    string `yaml:"metric" json:"metric"`
	Scope     string `yaml:"scope,omitempty" json:"scope"`                   // cluster unless stated
	Aggregate string `yaml:"aggregate,omitempty" json:"aggregate,omitempty"` // over the scopes of a kind: Aggregates
	Better    string `yaml:"better,omitempty" json:"better"`                 // "lower" or "higher"; the metric registry's unless it has none
}

// Constraint is a figure and the bound it must keep. Exactly one bound is stated, in the
// metric's own unit.
type Constraint struct {
	Metric    string   `yaml:"metric" json:"metric"`
	Scope     string   `yaml:"scope,omitempty" json:"scope"`
	Aggregate string   `yaml:"aggregate,omitempty" json:"aggregate,omitempty"`
	AtMost    *float64 `yaml:"at_most,omitempty" json:"at_most,omitempty"`
	AtLeast   *float64 `yaml:"at_least,omitempty" json:"at_least,omitempty"`
}

// Aggregates lists how the figures of every scope of a kind become one.
func Aggregates() []string { return []string{"max", "mean", "min"} }

// Limits of a specification, beyond what is worth waiting for: every pair of arms is compared.
const (
	maxArms  = 1_000
	maxSeeds = 1_000
)

// Parse reads a specification named file, fills its defaults and checks it.
func Parse(file string, data []byte) (*Spec, error) {
	s := new(Spec)
	if err := strict.YAML(file, data, s); err != nil {
		return nil, priced(err)
	}
	s.defaults()
	if err := s.check(); err != nil {
		return nil, spec.Place(file, data, err)
	}
	return s, nil
}

// priced says what to rank by instead of money.
func priced(err error) error {
	if r, ok := err.(*diag.Refusal); ok && slices.Contains([]string{"cost", "costs", "price", "prices"}, r.Field) {
		r.Problem, r.Accept, r.Rule = "is not known: the catalog has no prices", "rank: [{metric: output_throughput_per_accelerator}], which orders arms as a price per accelerator hour would on one chip", "CFG-4"
	}
	return err
}

func (s *Spec) defaults() {
	if s.Seeds == 0 {
		s.Seeds = analysis.MinReplications
	}
	if s.Level == 0 {
		s.Level = 0.95
	}
	for i := range s.Axes {
		if a := &s.Axes[i]; a.Name == "" {
			a.Name = a.Path[strings.LastIndexByte(a.Path, '.')+1:]
		}
	}
	for i := range s.Rank {
		o := &s.Rank[i]
		o.Scope = orCluster(o.Scope)
		if d, err := metric.Lookup(o.Metric); err == nil && o.Better == "" && d.Better != metric.None {
			o.Better = string(d.Better)
		}
	}
	for i := range s.Constraints {
		s.Constraints[i].Scope = orCluster(s.Constraints[i].Scope)
	}
}

func orCluster(scope string) string {
	if scope == "" {
		return "cluster"
	}
	return scope
}

func (s *Spec) check() error {
	switch {
	case s.Schema != Schema:
		return refuse("schema", s.Schema, "is not known", Schema)
	case s.Base == "":
		return refuse("base", "", "is missing", "the path of a scenario, relative to the specification")
	case len(s.Axes) == 0:
		return refuse("axes", "", "is missing", "a path of the scenario and its values, or options")
	case len(s.Rank) == 0 || len(s.Rank) > 2:
		return refuse("rank", strconv.Itoa(len(s.Rank)), "is not how many metrics a search ranks by", "one metric, or two for their Pareto front")
	case !(s.Margin >= 0 && s.Margin < 1):
		return refuse("margin", fmt.Sprint(s.Margin), "is no share of a figure", "0 or more and less than 1, such as 0.02")
	case s.Seeds < analysis.MinReplications || s.Seeds > maxSeeds:
		return &diag.Refusal{Field: "seeds", Value: strconv.Itoa(s.Seeds), Problem: "is out of range", Accept: fmt.Sprintf("%d to %d: fewer do not show the spread", analysis.MinReplications, maxSeeds), Rule: "DEV-11"}
	case !(s.Level > 0 && s.Level < 1):
		return refuse("level", fmt.Sprint(s.Level), "is no confidence level", "more than 0 and less than 1")
	}
	if err := s.checkAxes(); err != nil {
		return err
	}
	return s.checkFigures()
}

func (s *Spec) checkFigures() error {
	for i, o := range s.Rank {
		at := fmt.Sprintf("rank[%d]", i)
		d, err := checkQuantity(at, o.quantity())
		switch {
		case err != nil:
			return err
		case o.Better == "":
			return refuse(at+".better", "", "is missing: the metric registry gives "+o.Metric+" no direction", "lower or higher")
		case o.Better != string(metric.Lower) && o.Better != string(metric.Higher):
			return refuse(at+".better", o.Better, "is no direction", "lower or higher")
		case d.Better != metric.None && o.Better != string(d.Better):
			return refuse(at+".better", o.Better, "is against the metric registry", string(d.Better))
		case i > 0 && o.quantity() == s.Rank[0].quantity():
			return refuse(at, o.Metric, "is stated twice", "two different figures")
		}
	}
	for i, c := range s.Constraints {
		at := fmt.Sprintf("constraints[%d]", i)
		d, err := checkQuantity(at, c.quantity())
		if err == nil {
			err = c.check(at, &d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// check refuses a bound that every figure of the metric misses, or none can.
func (c *Constraint) check(at string, d *metric.Definition) error {
	if (c.AtMost == nil) == (c.AtLeast == nil) {
		return refuse(at, c.Metric, "states no bound, or two", "at_most or at_least")
	}
	field, bound := at+".at_most", c.AtMost
	if bound == nil {
		field, bound = at+".at_least", c.AtLeast
	}
	positive := d.Quantity == "ttft" || d.Quantity == "e2e" // what a first token takes is never nothing
	switch v := *bound; {
	case d.Unit == "share" && !(v >= 0 && v <= 1):
		return refuse(field, text(v), "is no value of "+c.Metric+", which is a share", "0 to 1, as 0.99 for 99 %")
	case v < 0:
		return refuse(field, text(v), "is no value of "+c.Metric, "a number of 0 or more, in "+d.Unit)
	case v == 0 && c.AtMost != nil && positive && d.Statistic != metric.Std:
		return refuse(field, text(v), "is never kept: "+c.Metric+" is more than 0", "more than 0, in "+d.Unit)
	}
	return nil
}

// quantity is what a figure is of; figures of different quantities are never compared (DEV-8).
type quantity struct{ metric, scope, aggregate string }

func (o Objective) quantity() quantity  { return quantity{o.Metric, o.Scope, o.Aggregate} }
func (c Constraint) quantity() quantity { return quantity{c.Metric, c.Scope, c.Aggregate} }

// quantities lists what every arm is asked for: objectives first.
func (s *Spec) quantities() []quantity {
	var out []quantity
	for _, o := range s.Rank {
		out = append(out, o.quantity())
	}
	for _, c := range s.Constraints {
		out = append(out, c.quantity())
	}
	return out
}

func checkQuantity(at string, q quantity) (metric.Definition, error) {
	d, err := metric.Lookup(q.metric)
	if r, ok := err.(*diag.Refusal); ok {
		r.Field = at + ".metric"
		return d, r
	}
	kind, name, named := strings.Cut(q.scope, ":")
	switch {
	case !slices.Contains(spec.Scopes(), kind):
		return d, refuse(at+".scope", q.scope, "is no scope", diag.OneOf(kind, spec.Scopes())+"; of all but the first either one, as instance:0, or all with an aggregate")
	case kind == "cluster" && named || named && name == "":
		return d, refuse(at+".scope", q.scope, "is no scope", "cluster, or a kind and a name, as class:chat")
	case kind == "cluster" || named:
		if q.aggregate != "" {
			return d, refuse(at+".aggregate", q.aggregate, "joins figures, and "+q.scope+" has one", "none, or the scope of a kind, as instance")
		}
	case !slices.Contains(Aggregates(), q.aggregate):
		return d, refuse(at+".aggregate", q.aggregate, "is not how the figures of every "+kind+" become one", diag.OneOf(q.aggregate, Aggregates()))
	}
	return d, nil
}

func refuse(field, value, problem, accept string) error {
	return &diag.Refusal{Field: field, Value: value, Problem: problem, Accept: accept, Rule: "CFG-4"}
}
