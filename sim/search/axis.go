package search

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// roots are the parts of a scenario that may vary. The frame may not: it says how every
// arm is measured.
var roots = []string{"engine", "model", "checkpoint", "hardware", "cluster", "router", "workload"}

// choices are an axis as options, whichever way it is stated.
func (a *Axis) choices() []Option {
	if a.Path == "" {
		return a.Options
	}
	out := make([]Option, len(a.Values))
	for i, v := range a.Values {
		out[i] = Option{Name: text(v), Set: map[string]any{a.Path: v}}
	}
	return out
}

// at is where choice i of an axis stands in the specification.
func (a *Axis) at(axis, i int) string {
	if a.Path == "" {
		return fmt.Sprintf("axes[%d].options[%d].set", axis, i)
	}
	return fmt.Sprintf("axes[%d].values[%d]", axis, i)
}

// text writes a value as a person would.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case map[string]any, []any:
		b, err := canon.JSON(v)
		if err == nil {
			return string(b)
		}
	}
	return fmt.Sprint(v)
}

// checkAxes checks each axis alone, and that no two say the same.
func (s *Spec) checkAxes() error {
	arms, names := 1, []string{}
	paths := map[string]int{} // to its axis
	for i := range s.Axes {
		a := &s.Axes[i]
		at := fmt.Sprintf("axes[%d]", i)
		if err := a.check(at, i); err != nil {
			return err
		}
		if slices.Contains(names, a.Name) {
			return refuse(at+".name", a.Name, "is the name of another axis", "a name of its own")
		}
		names = append(names, a.Name)
		if arms *= len(a.choices()); arms > maxArms {
			return refuse("axes", "", fmt.Sprintf("make more than %d arms", maxArms), "fewer values")
		}
		for _, path := range a.paths() {
			for other, axis := range paths { //determinism:any-order a refusal names the path at hand
				if axis != i && overlap(path, other) {
					return refuse(at, path, "is set by two axes", "one axis with options that set what belongs together")
				}
			}
			paths[path] = i
		}
	}
	return nil
}

// paths lists what an axis sets, in byte order.
func (a *Axis) paths() []string {
	all := map[string]bool{}
	for _, o := range a.choices() {
		for path := range o.Set { //determinism:any-order into a set
			all[spelling(path)] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// spelling writes a setting as the engines' parsers read it: - and _ alike.
func spelling(path string) string {
	if strings.HasPrefix(path, "engine.args.") {
		return strings.ReplaceAll(path, "_", "-")
	}
	return path
}

// overlap is whether one of two paths is above the other, or the other.
func overlap(a, b string) bool { return within(a, b) || within(b, a) }

// within is whether path is above, or below it.
func within(path, above string) bool {
	return path == above || strings.HasPrefix(path, above+".") || strings.HasPrefix(path, above+"[")
}

func (a *Axis) check(at string, i int) error {
	switch {
	case (a.Path == "") == (len(a.Options) == 0) || (a.Path == "") != (len(a.Values) == 0):
		return refuse(at, a.Name, "is neither a path with values nor options", "path and values, or name and options")
	case a.Name == "":
		return refuse(at+".name", "", "is missing", "what the options have in common")
	}
	seen := []string{}
	for j, o := range a.choices() {
		where := a.at(i, j)
		switch {
		case o.Name == "":
			return refuse(fmt.Sprintf("%s.options[%d].name", at, j), "", "is missing", "what a table calls the option")
		case slices.Contains(seen, o.Name):
			return refuse(where, o.Name, "is stated twice", "each once")
		}
		seen = append(seen, o.Name)
		if a.Path != "" {
			where = at + ".path"
		}
		paths := slices.Sorted(maps.Keys(o.Set))
		for k, path := range paths {
			if err := checkPath(where, path); err != nil {
				return err
			}
			for _, other := range paths[:k] {
				if overlap(spelling(path), spelling(other)) {
					return refuse(where, path, "lies within "+other+", which the option sets too", "one of them")
				}
			}
		}
	}
	return nil
}

// checkPath refuses a path that cannot be one of a scenario or may not vary.
func checkPath(where, path string) error {
	steps, ok := split(path)
	if !ok {
		return refuse(where, path, "is no path of a scenario", "names joined by dots, as workload.clients[0].requests")
	}
	switch root := steps[0]; {
	case root == "frame":
		return refuse(where, path, "does not vary: every arm is measured alike, and the search states seeds, metrics and scopes", "the frame of the base")
	case !slices.Contains(roots, root):
		return refuse(where, path, "is no part of a scenario that may vary", diag.OneOf(root, roots))
	}
	return nil
}

// split takes a path apart: names, and indices in brackets as "[0]".
func split(path string) (steps []string, ok bool) {
	for part := range strings.SplitSeq(path, ".") {
		name, rest, indexed := strings.Cut(part, "[")
		if name == "" {
			return nil, false
		}
		steps = append(steps, name)
		for indexed {
			var index string
			index, rest, ok = strings.Cut(rest, "]")
			if _, err := strconv.ParseUint(index, 10, 31); err != nil || !ok {
				return nil, false
			}
			steps = append(steps, "["+index+"]")
			if rest == "" {
				break
			}
			if rest, indexed = strings.CutPrefix(rest, "["); !indexed {
				return nil, false
			}
		}
	}
	return steps, true
}
