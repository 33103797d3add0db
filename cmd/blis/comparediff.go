package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// unlike is one place at which two documents differ, with each value as JSON; absent is "".
type unlike struct {
	Path string `json:"path"`
	A    string `json:"a"`
	B    string `json:"b"`
}

func (u unlike) String() string {
	or := func(v string) string {
		if v == "" || v == "null" {
			return "absent"
		}
		return v
	}
	return fmt.Sprintf("%s: %s in A, %s in B", u.Path, or(u.A), or(u.B))
}

// measuredAlike refuses two scenarios whose frames differ in more than what a comparison
// states itself: figures of different experiments are not compared (DEV-8).
func measuredAlike(paths []string, a, b *spec.Scenario) error {
	frames := [2]spec.Frame{a.Frame, b.Frame}
	for i := range frames {
		frames[i].Seed, frames[i].Metrics, frames[i].Scopes = 0, nil, nil
	}
	d, err := differences("frame", frames[0], frames[1])
	if err != nil || len(d) == 0 {
		return err
	}
	return &diag.Refusal{File: paths[1], Field: d[0].Path, Value: d[0].B, Problem: fmt.Sprintf("is not as in %s: %s", paths[0], d[0]), Accept: "one frame for both, but for its seed, metrics and scopes", Rule: "DEV-8"}
}

// differences lists where two documents differ, in the byte order of their paths.
func differences(path string, a, b any) ([]unlike, error) {
	var trees [2]any
	for i, v := range []any{a, b} {
		text, err := canon.JSON(v)
		if err != nil {
			return nil, err
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&trees[i]); err != nil {
			return nil, err
		}
	}
	return walk([]unlike{}, path, trees[0], trees[1])
}

func walk(out []unlike, path string, a, b any) (_ []unlike, err error) {
	if m, ok := a.(map[string]any); ok {
		if n, ok := b.(map[string]any); ok {
			keys := slices.Collect(maps.Keys(m))
			for key := range n { //determinism:any-order sorted below
				keys = append(keys, key)
			}
			slices.Sort(keys)
			for _, key := range slices.Compact(keys) {
				if out, err = walk(out, path+"."+key, m[key], n[key]); err != nil {
					return nil, err
				}
			}
			return out, nil
		}
	}
	if l, ok := a.([]any); ok {
		if k, ok := b.([]any); ok && len(l) == len(k) {
			for i := range l {
				if out, err = walk(out, fmt.Sprintf("%s[%d]", path, i), l[i], k[i]); err != nil {
					return nil, err
				}
			}
			return out, nil
		}
	}
	var text [2]string
	for i, v := range []any{a, b} {
		if v == nil {
			continue
		}
		raw, err := canon.JSON(v)
		if err != nil {
			return nil, err
		}
		text[i] = strings.TrimSpace(string(raw))
	}
	if text[0] != text[1] {
		out = append(out, unlike{path, text[0], text[1]})
	}
	return out, nil
}
