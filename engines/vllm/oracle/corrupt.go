package oracle

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// CheckCorrupted changes the n-th recorded value of a trace (counted from 0 in the
// order of comparison, modulo their number) and replays it; the report must then
// hold a difference. changed names the value.
func CheckCorrupted(name string, r io.Reader, n int) (rep Report, changed string, err error) {
	data, err := read(name, r)
	if err != nil {
		return Report{}, "", err
	}
	recorded, err := decode(name, data)
	if err != nil {
		return Report{}, "", err
	}
	outcome := maps.Clone(recorded)
	maps.DeleteFunc(outcome, func(k string, _ any) bool { return given[k] })
	values := leaves(outcome, "", nil)
	if len(values) == 0 {
		return Report{}, "", &diag.Refusal{File: name, Problem: "records no outcome"}
	}
	leaf := values[n%len(values)]
	leaf.set(spoil(leaf.value))
	maps.Copy(recorded, outcome)
	rep, err = check(name, recorded)
	return rep, leaf.path, err
}

// leaf is one recorded value and how to replace it.
type leaf struct {
	path  string
	value any
	set   func(any)
}

// leaves lists the values below v in the order compare visits them.
func leaves(v any, path string, out []leaf) []leaf {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			out = descend(v[k], join(path, k), func(x any) { v[k] = x }, out)
		}
	case []any:
		for i := range v {
			out = descend(v[i], fmt.Sprintf("%s[%d]", path, i), func(x any) { v[i] = x }, out)
		}
	}
	return out
}

func descend(v any, path string, set func(any), out []leaf) []leaf {
	switch v.(type) {
	case map[string]any, []any:
		return leaves(v, path, out)
	}
	return append(out, leaf{path, v, set})
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m { // order: sorted below
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// spoil returns a value that differs from v.
func spoil(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return json.Number(fmt.Sprint(f + 1))
		}
	case string:
		return v + "x"
	case bool:
		return !v
	}
	return "corrupted"
}
