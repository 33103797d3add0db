package vllm

// This file is the project's own: upstream runs what is refused here.

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// admit refuses, by its upstream name, every stated setting the port does not run:
// an unknown one in vLLM's own words, a removed or not modelled one with what it
// does, a value outside the classes the evidence covers (X1, X9). A setting stated
// at its default is taken.
func (k *Kind) admit(spec engines.Spec) error {
	for _, l := range leaves("", spec.Args) {
		if err := k.check("engine.args.", l.path, l.value, false); err != nil {
			return err
		}
	}
	for _, name := range sortedKeys(spec.Env) {
		if err := k.check("engine.env.", name, spec.Env[name], true); err != nil {
			return err
		}
	}
	return nil
}

func (k *Kind) check(at, name string, value any, variable bool) error {
	f := k.find(name, variable)
	text := fmt.Sprint(value)
	refuse := func(problem, accept string) error {
		return &diag.Refusal{Field: at + name, Value: text, Problem: problem, Accept: accept, Rule: "X1"}
	}
	switch {
	case f == nil && variable:
		return refuse("vLLM reads no such variable", "a variable `blis fields --engine vllm` lists")
	case f == nil:
		return refuse("unrecognized arguments: --"+name, nearest(k.fields, name))
	case value == nil: // null is left out
		return nil
	case f.Status == fields.Removed:
		return refuse("is not a setting of "+Version+": "+f.Evidence, instead(f))
	case f.Status == fields.NotModelled && !atDefault(f, value):
		return refuse("is not modelled: "+f.Evidence, "the default, "+orUnset(f.Default))
	case len(f.Values) > 0 && !k.covers(f, text) && !atDefault(f, value):
		return refuse("is outside the values "+string(f.Status)+" here", diag.OneOf(text, f.Values))
	}
	return nil
}

// covers says that the evidence for f holds for a value. How a modelled one may be spelled
// is left to start-up, which reads some names in either case (vllm/config/compilation.py).
func (*Kind) covers(f *fields.Field, value string) bool {
	return slices.ContainsFunc(f.Values, func(v string) bool {
		return v == value || f.Status == fields.Modelled && strings.EqualFold(v, value)
	})
}

// find looks up the longest row that covers a dotted name.
func (k *Kind) find(name string, variable bool) *fields.Field {
	return k.fields.Covering(name, variable)
}

func atDefault(f *fields.Field, value any) bool {
	want := strings.Trim(f.Default, "'\"")
	return strings.EqualFold(fmt.Sprint(value), want)
}

func orUnset(s string) string {
	if s == "" {
		return "left out"
	}
	return s
}

func instead(f *fields.Field) string {
	if f.Rule == nil || f.Rule.Field == "" {
		return "left out"
	}
	if f.Rule.Value != "" {
		return f.Rule.Field + ": " + f.Rule.Value
	}
	return f.Rule.Field
}

func nearest(l *fields.List, name string) string {
	var names []string
	for _, f := range l.Fields {
		if f.Kind == "argument" && !strings.Contains(f.Name, ".") {
			names = append(names, f.Name)
		}
	}
	if near := diag.Nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	return "an argument `blis fields --engine vllm` lists"
}

// leaf is one value of a JSON-valued argument, by its dotted path.
type leaf struct {
	path  string
	value any
}

func leaves(at string, m map[string]any) []leaf {
	var out []leaf
	for _, k := range sortedKeys(m) {
		path := k
		if at != "" {
			path = at + "." + k
		}
		if child, ok := m[k].(map[string]any); ok && len(child) > 0 {
			out = append(out, leaves(path, child)...)
			continue
		}
		out = append(out, leaf{path, m[k]})
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
