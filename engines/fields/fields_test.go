package fields

import (
	"fmt"
	"strings"
	"testing"
)

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
