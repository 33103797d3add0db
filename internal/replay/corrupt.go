package replay

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// Corrupt changes the n-th recorded value of a trace, counted from 0 in the order of
// comparison, and returns its path. It refuses an n that counts no value. A replay of
// the trace must then differ.
func Corrupt(trace map[string]any, given map[string]bool, n int) (path string, err error) {
	var leaves []leaf
	out := outcome(trace, given)
	for _, k := range slices.Sorted(maps.Keys(out)) {
		leaves = collect(leaves, k, out[k], func(v any) { trace[k] = v })
	}
	if len(leaves) == 0 {
		return "", &diag.Refusal{Problem: "records no outcome"}
	}
	if n < 0 || n >= len(leaves) {
		return "", &diag.Refusal{Field: "value", Value: strconv.Itoa(n), Problem: fmt.Sprintf("counts no value: %d are recorded", len(leaves)),
			Accept: fmt.Sprintf("0 to %d", len(leaves)-1)}
	}
	l := leaves[n]
	l.set(spoiled(l.value))
	return l.path, nil
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
		if n, err := t.Int64(); err == nil {
			return json.Number(strconv.FormatInt(n^1, 10))
		}
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
