package replay

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Draw shows the first difference and, side by side, what encloses it: the step it
// lies in, or the part of the outcome. Lines that differ carry a "!". It is empty
// without a difference.
func (r *Report) Draw() string {
	if len(r.Differences) == 0 {
		return ""
	}
	d := r.Differences[0]
	scope := d.Path
	if i := strings.IndexByte(scope, ']'); strings.HasPrefix(scope, "steps[") && i > 0 {
		scope = scope[:i+1]
	} else {
		scope, _, _ = strings.Cut(scope, ".")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "first difference: %s\n%-22s   %-*s   %s\n", d, scope, column, "recorded", "replayed")
	want, got := parts(r.recorded, scope), parts(r.replayed, scope)
	keys := slices.AppendSeq(slices.Collect(maps.Keys(want)), maps.Keys(got))
	slices.Sort(keys)
	for _, k := range slices.Compact(keys) {
		mark := " "
		if want[k] != got[k] {
			mark = "!"
		}
		fmt.Fprintf(&b, "%-22s %s %-*s %s %s\n", k, mark, column, short(want[k]), mark, short(got[k]))
	}
	return b.String()
}

// column is the width of a side.
const column = 44

// parts are the members of what stands at "key" or "key[i]", as text.
func parts(doc map[string]any, scope string) map[string]string {
	key, index, indexed := strings.Cut(strings.TrimSuffix(scope, "]"), "[")
	v := doc[key]
	if i, err := strconv.Atoi(index); indexed && err == nil {
		list, _ := v.([]any)
		if i >= len(list) {
			return nil
		}
		v = list[i]
	}
	m, ok := v.(map[string]any)
	if !ok {
		return map[string]string{scope: text(v)}
	}
	out := make(map[string]string, len(m))
	for k, v := range m { // order: a map is filled
		out[k] = text(v)
	}
	return out
}

func short(s string) string {
	if len(s) > column {
		return s[:column-3] + "..."
	}
	return s
}
