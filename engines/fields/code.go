package fields

import (
	"slices"
	"strings"
)

// Hidden reports whether a recorded value makes the engine load code that the
// modelled release does not ship: a class, module or plugin outside the engine's
// own package, in a field that names code. Empty values and the value classes of
// the field load nothing new.
func (l *List) Hidden(f *Field, value any) bool {
	if !f.Loads {
		return false
	}
	switch v := value.(type) {
	case string:
		for name := range strings.SplitSeq(v, ",") {
			name = strings.TrimSpace(name)
			if name != "" && !slices.Contains(f.Values, name) && !strings.HasPrefix(name, l.Engine+".") {
				return true
			}
		}
		return false
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return l.Hidden(f, e) })
	case map[string]any:
		for _, e := range v { //determinism:any-order one hidden value is enough
			if l.Hidden(f, e) {
				return true
			}
		}
		return false
	}
	return value != nil
}
