package sglang

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
// an unknown one in SGLang's own words, a removed or not modelled one with what it
// does, a value outside the classes the evidence covers (X1, X9). A setting stated
// at its default is taken.
func (k *Kind) admit(spec engines.Spec) error {
	for _, name := range slices.Sorted(maps.Keys(spec.Args)) {
		if err := k.check("engine.args.", name, spec.Args[name], false); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Env)) {
		if err := k.check("engine.env.", name, spec.Env[name], true); err != nil {
			return err
		}
	}
	return nil
}

// aliases are the other names of an argument (server_args.py add_cli_args).
var aliases = map[string]string{
	"tp": "tensor-parallel-size", "tp-size": "tensor-parallel-size", "pp-size": "pipeline-parallel-size", "dp-size": "data-parallel-size",
	"ep": "expert-parallel-size", "ep-size": "expert-parallel-size",
}

// named gives every argument its long name with dashes, and refuses one stated twice.
func named(args map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(args))
	for _, name := range slices.Sorted(maps.Keys(args)) {
		long := strings.ReplaceAll(name, "_", "-")
		if full, ok := aliases[long]; ok {
			long = full
		}
		if _, twice := out[long]; twice {
			return nil, &diag.Refusal{Field: "engine.args." + name, Value: fmt.Sprint(args[name]), Problem: "--" + long + " is given twice", Accept: "one of its spellings", Rule: "X1"}
		}
		out[long] = args[name]
	}
	return out, nil
}

func (k *Kind) check(at, name string, value any, variable bool) error {
	f := k.fields.Covering(name, variable)
	text := fmt.Sprint(value)
	refuse := func(problem, accept string) error {
		return &diag.Refusal{Field: at + name, Value: text, Problem: problem, Accept: accept, Rule: "X1"}
	}
	switch {
	case f == nil && variable:
		return refuse("SGLang reads no such variable", "a variable `blis fields --engine sglang` lists")
	case f == nil:
		return refuse("unrecognized arguments: --"+name, k.nearest(name))
	case f.Status == fields.Removed:
		return refuse("is not a setting of "+Version+": "+f.Evidence, replacement(f))
	case strings.EqualFold(text, f.Default):
		return nil
	case f.Status == fields.NotModelled:
		return refuse("is not modelled: "+f.Evidence, "left out")
	case len(f.Values) > 0 && !slices.Contains(f.Values, text):
		return refuse("is outside the values "+string(f.Status)+" here", diag.OneOf(text, f.Values))
	}
	return nil
}

func (k *Kind) nearest(name string) string {
	var names []string
	for _, f := range k.fields.Fields {
		if f.Kind == "argument" {
			names = append(names, f.Name)
		}
	}
	if near := diag.Nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	return "an argument `blis fields --engine sglang` lists"
}

// replacement is what a removed setting's estimation rule writes in its place.
func replacement(f *fields.Field) string {
	if f.Rule == nil || f.Rule.Field == "" {
		return "left out"
	}
	if f.Rule.Value == "" {
		return f.Rule.Field
	}
	return f.Rule.Field + ": " + f.Rule.Value
}
