package fields

import (
	"fmt"
	"slices"
	"strings"
)

// Unclassified lists, sorted and once each, the settings of a recorded launch
// that the list says nothing of, or knows as not run and gives no estimation rule
// for their value (§11.2). Nested objects are looked up by dotted path; a row
// covers what lies below it.
func (l *List) Unclassified(args map[string]any, env map[string]string) []string {
	var out []string
	for name, v := range args { //determinism:any-order sorted below
		out = l.missing(out, name, v, false)
	}
	for name, v := range env { //determinism:any-order sorted below
		out = l.missing(out, name, v, true)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (l *List) missing(out []string, name string, v any, variable bool) []string {
	if m, ok := v.(map[string]any); ok && len(m) > 0 {
		for k, x := range m { //determinism:any-order sorted by the caller
			out = l.missing(out, name+"."+k, x, variable)
		}
		return out
	}
	f := l.Covering(name, variable)
	switch {
	case f == nil:
		return append(out, name)
	case f.Status == Modelled, f.Status == Inert:
		return out
	case f.Rule != nil && (len(f.Rule.ValidWhen) == 0 || slices.Contains(f.Rule.ValidWhen, fmt.Sprint(v))):
		return out
	}
	return append(out, fmt.Sprintf("%s=%v", name, v))
}

// Covering is the row of name, or of the nearest object above it; nil when there
// is none. variable says that name is an environment variable.
func (l *List) Covering(name string, variable bool) *Field {
	for {
		if f, ok := l.Lookup(name); ok && (f.Kind == "environment") == variable {
			return f
		}
		dot := strings.LastIndexByte(name, '.')
		if dot < 0 {
			return nil
		}
		name = name[:dot]
	}
}
