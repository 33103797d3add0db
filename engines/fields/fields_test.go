package fields

import (
	"fmt"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// A list that names something twice, or whose status says nothing, is refused.
func TestListsAreRefused(t *testing.T) {
	keep.Rule(t, "SIM-9")
	const field, item = `{"name":"x-y","kind":"argument","type":"t","default":"","status":"modelled","evidence":"e"}`, `{"table":"t","name":"n","status":"modelled","evidence":"e"}`
	for _, c := range []struct{ rows, want string }{
		{field, ""},
		{field + "," + strings.Replace(field, "x-y", "x-z", 1), ""},
		{field + "," + strings.Replace(field, "x-y", "x_y", 1), "f.json: x_y: is listed twice"},
		{strings.Replace(field, `"modelled"`, `"done"`, 1), "f.json: x-y.status: done: unknown status"},
		{strings.Replace(field, `"evidence":"e"`, `"evidence":""`, 1), "f.json: x-y.evidence: is empty for a field that is modelled"},
		{strings.Replace(field, `}`, `,"rule":{"do":"unset","reason":"r"}}`, 1), ""},
		{strings.Replace(field, `}`, `,"rule":{"do":"guess","reason":"r"}}`, 1), "f.json: x-y.rule.do: guess: unknown rule"},
		{strings.Replace(field, `}`, `,"rule":{"do":"unset","reason":""}}`, 1), "f.json: x-y.rule.reason: is empty"},
		{strings.Replace(field, `}`, `,"earlier":{"before":"1.2.0","value":"v","reason":"r"}}`, 1), ""},
		{strings.Replace(field, `}`, `,"earlier":{"before":"1.2","value":"v","reason":"r"}}`, 1), "f.json: x-y.earlier.before: 1.2: is not a release"},
		{strings.Replace(field, `}`, `,"earlier":{"before":"1.2.0","value":"","reason":"r"}}`, 1), "f.json: x-y.earlier: needs a modelled field, a value and a reason"},
	} {
		if _, err := Parse("f.json", []byte(`{"engine":"e","version":"v","coverage":"c","fields":[`+c.rows+`]}`)); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.rows, err, c.want)
		}
	}
	for _, c := range []struct{ rows, want string }{
		{item, ""},
		{item + "," + strings.Replace(item, `"n"`, `"m"`, 1), ""},
		{item + "," + item, "s.json: t/n.name: n: is listed twice"},
		{strings.Replace(item, "modelled", "done", 1), "s.json: t/n.status: done: unknown status"},
		{strings.Replace(item, `"e"`, `""`, 1), "s.json: t/n.evidence: is empty"},
		{strings.Replace(item, "modelled", "out_of_scope", 1), "s.json: t/n.reason: does not match the status"},
	} {
		if _, err := ParseSurface("s.json", []byte(`{"version":"v","items":[`+c.rows+`]}`)); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.rows, err, c.want)
		}
	}
}

// TestNoEffectStatesWhatItPreserves: a setting may be dropped without a trace only where the
// list says why nothing differs.
func TestNoEffectStatesWhatItPreserves(t *testing.T) {
	const row = `{"engine":"e","version":"v","coverage":"c","fields":[{"name":"x","kind":"argument","status":"removed","evidence":"e","rule":{"do":%q,"reason":"why"%s}}]}`
	for _, c := range []struct{ do, preserves, want string }{
		{"no_effect", "", "rule.preserves"},
		{"no_effect", `,"preserves":"no request is logged"`, ""},
		{"unset", "", ""},
	} {
		_, err := Parse("f.json", fmt.Appendf(nil, row, c.do, c.preserves))
		if got := fmt.Sprint(err); (err == nil) != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s%s: got %s, want %q", c.do, c.preserves, got, c.want)
		}
	}
}
