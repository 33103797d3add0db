package harness

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// tree is engine arguments; a JSON-valued argument is a tree within it.
type tree map[string]any

// leaf is one scalar or list of a tree, named by its path: nested keys are joined
// to the argument's name by dots.
type leaf struct {
	path  string
	value any
}

// leaves lists args in byte order of their paths. An argument given on the command
// line as --a_b.c.d=v is the leaf a-b.c.d, as the upstreams' parsers read it.
func leaves(args map[string]any) []leaf {
	var out []leaf
	for _, name := range sortedKeys(args) {
		path := name
		if top, rest, nested := strings.Cut(name, "."); nested {
			path = strings.ReplaceAll(top, "_", "-") + "." + rest
		}
		out = appendLeaves(out, path, args[name])
	}
	slices.SortFunc(out, func(a, b leaf) int { return strings.Compare(a.path, b.path) })
	return out
}

func appendLeaves(out []leaf, path string, v any) []leaf {
	m, nested := v.(map[string]any)
	if !nested || len(m) == 0 {
		return append(out, leaf{path, plain(v)})
	}
	for _, k := range sortedKeys(m) {
		out = appendLeaves(out, path+"."+k, m[k])
	}
	return out
}

// put sets path to v and returns what stood there before.
func (t tree) put(path string, v any) (old any, was bool) {
	at := map[string]any(t)
	for {
		key, rest, nested := strings.Cut(path, ".")
		if !nested {
			old, was = at[key]
			at[key] = v
			return old, was
		}
		below, ok := at[key].(map[string]any)
		if !ok {
			below = map[string]any{}
			at[key] = below
		}
		at, path = below, rest
	}
}

// has says whether path stands in t.
func (t tree) has(path string) bool {
	for at := map[string]any(t); ; {
		key, rest, nested := strings.Cut(path, ".")
		v, ok := at[key]
		if !ok || !nested {
			return ok
		}
		if at, ok = v.(map[string]any); !ok {
			return false
		}
		path = rest
	}
}

// plain gives numbers the types a scenario file's have: int or float64.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := strconv.Atoi(v.String()); err == nil {
			return n
		}
		if f, err := v.Float64(); err == nil {
			return f
		}
		return v.String()
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v { //determinism:any-order each key writes its own
			out[k] = plain(e)
		}
		return out
	}
	return v
}

// text is a value as a field list and a trial write it: a string bare, anything
// else as JSON.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// parse reads a rule's value: JSON where it is JSON, else a bare string.
func parse(s string) any {
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil || dec.More() {
		return s
	}
	return plain(v)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
