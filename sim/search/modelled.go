package search

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// setting is one engine setting that an axis sets.
type setting struct {
	name     string
	value    any
	variable bool // of the environment
}

// settings are the engine settings below a path that is set to v.
func settings(path string, v any) []setting {
	for prefix, variable := range map[string]bool{"engine.args": false, "engine.env": true} { //determinism:any-order a path has one of the prefixes
		switch name, below := strings.CutPrefix(path, prefix+"."); {
		case below:
			return leaves(name, v, variable)
		case path == prefix:
			return leaves("", v, variable)
		}
	}
	if m, ok := v.(map[string]any); ok && path == "engine" {
		return append(leaves("", m["args"], false), leaves("", m["env"], true)...)
	}
	return nil
}

// leaves takes an object apart by dotted path.
func leaves(name string, v any, variable bool) (out []setting) {
	m, ok := v.(map[string]any)
	if !ok {
		if name == "" {
			return nil
		}
		return []setting{{name, v, variable}}
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out = append(out, leaves(strings.TrimPrefix(name+"."+key, "."), m[key], variable)...)
	}
	return out
}

// modelled holds what an arm sets to its engine's field list: a setting that is not
// modelled is a mistake of the specification, a value beyond the list's evidence
// refuses the arm (CFG-3, CFG-5).
func (s *Study) modelled(arm *Arm, fieldsOf func(kind string) *fields.List) error {
	if arm.Refused != nil {
		return nil
	}
	list := fieldsOf(arm.Scenario.Engine.Kind)
	if list == nil {
		return nil // the simulator refuses the engine by name
	}
	for i, option := range arm.picked {
		a := &s.Spec.Axes[i]
		o := a.choices()[option]
		for _, path := range slices.Sorted(maps.Keys(o.Set)) {
			for _, st := range settings(path, o.Set[path]) {
				if !st.variable {
					st.name = list.Long(st.name)
				}
				if err := st.check(list, a.at(i, option)); err != nil {
					return err
				}
				if arm.Refused == nil {
					arm.Refused = st.beyond(list)
				}
			}
		}
	}
	return nil
}

// check refuses a setting that the engine does not have or that is not modelled.
func (st *setting) check(list *fields.List, at string) error {
	f := list.Covering(st.name, st.variable)
	if f == nil {
		return &diag.Refusal{Field: at, Value: st.name, Problem: "is no setting of " + list.Engine + " " + list.Version, Accept: accepted(list, st), Rule: "CFG-3"}
	}
	if f.Status != fields.Modelled {
		return &diag.Refusal{Field: at, Value: st.name, Problem: fmt.Sprintf("is %s in the field list of %s %s: %s", strings.ReplaceAll(string(f.Status), "_", " "), list.Engine, list.Version, f.Evidence),
			Accept: "a setting that `blis fields --engine " + list.Engine + " --status modelled` lists", Rule: "CFG-5"}
	}
	return nil
}

func accepted(list *fields.List, st *setting) string {
	var names []string
	for i := range list.Fields {
		if f := &list.Fields[i]; f.Status == fields.Modelled {
			names = append(names, f.Name)
		}
	}
	if near := diag.Nearest(st.name, names); near != "" {
		return "did you mean " + near + "?"
	}
	return "a setting that `blis fields --engine " + list.Engine + " --status modelled` lists"
}

// beyond is the refusal of a value that the evidence of its setting does not cover.
func (st *setting) beyond(list *fields.List) *diag.Refusal {
	f := list.Covering(st.name, st.variable)
	if len(f.Values) == 0 || slices.Contains(f.Values, text(st.value)) {
		return nil
	}
	return &diag.Refusal{Field: st.name, Value: text(st.value), Problem: "is not modelled at this value", Accept: diag.OneOf(text(st.value), f.Values), Rule: "CFG-5"}
}
