package replay

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Corrupt changes the n-th recorded value of a trace, counted from 0 in the order of
// comparison and modulo their number, and returns its path; ok is false when the
// trace records nothing. A replay of it must then differ.
func Corrupt(trace map[string]any, given map[string]bool, n int) (path string, ok bool) {
	var leaves []leaf
	out := outcome(trace, given)
	for _, k := range slices.Sorted(maps.Keys(out)) {
		leaves = collect(leaves, k, out[k], func(v any) { trace[k] = v })
	}
	if len(leaves) == 0 {
		return "", false
	}
	l := leaves[n%len(leaves)]
	l.set(spoiled(l.value))
	return l.path, true
}

// leaf is one recorded value and how to replace it.
type leaf struct {
	path  string
	value any
	set   func(any)
}

func collect(leaves []leaf, path string, v any, set func(any)) []leaf {
	switch t := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(t)) {
			leaves = collect(leaves, path+"."+k, t[k], func(v any) { t[k] = v })
		}
		return leaves
	case []any:
		for i := range t {
			leaves = collect(leaves, fmt.Sprintf("%s[%d]", path, i), t[i], func(v any) { t[i] = v })
		}
		return leaves
	}
	return append(leaves, leaf{path, v, set})
}

// spoiled is a value that differs from v.
func spoiled(v any) any {
	switch t := v.(type) {
	case json.Number:
		if f, err := t.Float64(); err == nil {
			return json.Number(fmt.Sprint(f + 1))
		}
	case bool:
		return !t
	case string:
		return t + "x"
	}
	return "corrupted"
}
