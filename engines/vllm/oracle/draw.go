package oracle

import (
	"fmt"
	"strings"
)

// Draw shows the first difference: where it is, and the two sides of what encloses
// it, line by line, those that differ marked with "!". It is empty without one.
func (r *Report) Draw() string {
	if len(r.Differences) == 0 {
		return ""
	}
	d := r.Differences[0]
	var b strings.Builder
	fmt.Fprintf(&b, "first difference: %s\n", d)
	if r.replayed == nil {
		return b.String()
	}
	scope := enclosing(d.Path)
	want, got := lines(lookUp(r.recorded, scope)), lines(lookUp(r.replayed, scope))
	fmt.Fprintf(&b, "%-22s   %-40s   %s\n", scope, "recorded", "replayed")
	for _, k := range keysOf(want, got) {
		mark := " "
		if want[k] != got[k] {
			mark = "!"
		}
		fmt.Fprintf(&b, "%-22s %s %-40s %s %s\n", k, mark, shorten(want[k]), mark, shorten(got[k]))
	}
	return b.String()
}

// enclosing is the step a path lies in, or its first part.
func enclosing(path string) string {
	if strings.HasPrefix(path, "steps[") {
		return path[:strings.Index(path, "]")+1]
	}
	head, _, _ := strings.Cut(path, ".")
	return head
}

// lookUp finds what stands at "key" or "key[i]".
func lookUp(v map[string]any, scope string) any {
	key, rest, indexed := strings.Cut(scope, "[")
	if !indexed {
		return v[key]
	}
	i := 0
	list, ok := v[key].([]any)
	if _, err := fmt.Sscanf(rest, "%d", &i); err != nil || !ok || i >= len(list) {
		return nil
	}
	return list[i]
}

// lines flattens a record to its fields: an object is opened, a list of one object
// is its object, everything else is one line.
func lines(v any) map[string]string {
	out := make(map[string]string)
	flatten("", v, out)
	return out
}

func flatten(path string, v any, out map[string]string) {
	if list, ok := v.([]any); ok && len(list) == 1 {
		if o, ok := list[0].(map[string]any); ok {
			v = o
		}
	}
	o, ok := v.(map[string]any)
	if !ok {
		out[path] = text(v)
		return
	}
	for _, k := range sortedKeys(o) {
		flatten(join(path, k), o[k], out)
	}
}

func keysOf(a, b map[string]string) []string {
	all := make(map[string]any, len(a))
	for k := range a { // order: sorted by sortedKeys
		all[k] = nil
	}
	for k := range b { // order: sorted by sortedKeys
		all[k] = nil
	}
	return sortedKeys(all)
}

func shorten(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	return s[:most-3] + "..."
}
