package config

// This file is the project's own: upstream leaves reading to pydantic.

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// reader takes the arguments of one upstream configuration class, collecting what
// is wrong with them in field order, as pydantic does, and noting where each value
// came from.
type reader struct {
	c    *Config
	args map[string]any
	bad  []Item
}

// Source says where a value came from.
type Source struct{ Kind, Why string }

const (
	Stated  = "stated"
	Default = "default"
	Rule    = "rule"
)

func (c *Config) note(name, kind, why string) { c.Sources[name] = Source{kind, why} }

// take returns an argument's value; null counts as not given.
func (r *reader) take(name string) (any, bool) {
	v, ok := r.args[name]
	if !ok || v == nil {
		r.c.note(name, Default, "")
		return nil, false
	}
	r.c.note(name, Stated, "")
	return v, true
}

func (r *reader) fault(loc string, i *Item) {
	i.Loc = loc
	r.bad = append(r.bad, *i)
}

// integer reads name into dst, leaving dst when it is not given.
func (r *reader) integer(name string, dst *int, bounds ...bound) {
	if v, ok := r.take(name); ok {
		n, bad := integer(v)
		if bad != nil {
			r.fault(name, bad)
			return
		}
		*dst = n
	}
	r.limits(name, float64(*dst), bounds)
}

// optional is integer for a field that may be None.
func (r *reader) optional(name string, bounds ...bound) *int {
	if _, ok := r.args[name]; !ok || r.args[name] == nil {
		r.c.note(name, Default, "")
		return nil
	}
	n := 0
	before := len(r.bad)
	r.integer(name, &n, bounds...)
	if len(r.bad) > before {
		return nil
	}
	return &n
}

func (r *reader) number(name string, dst *float64, bounds ...bound) {
	if v, ok := r.take(name); ok {
		f, bad := number(v)
		if bad != nil {
			r.fault(name, bad)
			return
		}
		*dst = f
	}
	r.limits(name, *dst, bounds)
}

func (r *reader) limits(name string, v float64, bounds []bound) {
	for _, b := range bounds {
		if bad := b.check(v); bad != nil {
			r.fault(name, bad)
			return
		}
	}
}

func (r *reader) boolean(name string, dst *bool) {
	if v, ok := r.take(name); ok {
		b, bad := boolean(v)
		if bad != nil {
			r.fault(name, bad)
			return
		}
		*dst = b
	}
}

// optionalBool is nil when the argument was not given.
func (r *reader) optionalBool(name string) *bool {
	if v, ok := r.args[name]; !ok || v == nil {
		r.c.note(name, Default, "")
		return nil
	}
	b := false
	r.boolean(name, &b)
	return &b
}

// literal reads one of choices; numbers in choices stand for integer literals.
func (r *reader) literal(name string, dst *string, choices ...string) {
	v, ok := r.take(name)
	if !ok {
		return
	}
	if s := fmt.Sprint(v); slices.Contains(choices, s) {
		*dst = s
		return
	}
	r.fault(name, &Item{Type: "literal_error", Message: "Input should be " + orList(choices)})
}

func (r *reader) text(name string, dst *string) {
	if v, ok := r.take(name); ok {
		*dst = fmt.Sprint(v)
	}
}

// object reads a nested configuration given as JSON.
func (r *reader) object(name string) map[string]any {
	v, ok := r.take(name)
	if !ok {
		return nil
	}
	m, ok := v.(map[string]any)
	if !ok {
		r.fault(name, &Item{Type: "dict_type", Message: "Input should be a valid dictionary"})
	}
	return m
}

// done is the class's validation error, if any.
func (r *reader) done() error {
	if len(r.bad) == 0 {
		return nil
	}
	bad := r.bad
	r.bad = nil
	return &Upstream{Class: "ValidationError", Items: bad}
}

// Normal writes argument names as the upstream's Python names (underscores) and
// folds dotted names into the objects they address, as FlexibleArgumentParser does.
func Normal(args map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(args))
	for _, name := range sortedKeys(args) {
		parts := strings.Split(strings.TrimLeft(strings.ReplaceAll(name, "-", "_"), "_"), ".")
		if _, twice := out[parts[0]]; twice && len(parts) == 1 {
			return nil, valueError("--%s is given twice", name)
		}
		if err := put(out, parts, args[name]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func put(into map[string]any, path []string, v any) error {
	if len(path) == 1 {
		if m, ok := v.(map[string]any); ok { // a private copy: dotted names may add to it
			if old, ok := into[path[0]].(map[string]any); ok {
				for _, k := range sortedKeys(m) {
					if err := put(old, []string{k}, m[k]); err != nil {
						return err
					}
				}
				return nil
			}
			v = deepCopy(m)
		}
		into[path[0]] = v
		return nil
	}
	child, ok := into[path[0]].(map[string]any)
	if !ok {
		if into[path[0]] != nil {
			return valueError("--%s: %v is not an object and cannot take .%s", path[0], into[path[0]], strings.Join(path[1:], "."))
		}
		child = map[string]any{}
		into[path[0]] = child
	}
	return put(child, path[1:], v)
}

func deepCopy(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m { //determinism:any-order a copy of a map
		if c, ok := v.(map[string]any); ok {
			v = deepCopy(c)
		}
		out[k] = v
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
