package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
)

// Difference is one value that does not match.
type Difference struct {
	Path string // e.g. "steps[3].s[0].tot"
	Want any    // recorded; Missing when only the replay has it
	Got  any    // replayed; Missing when only the trace has it
}

// Missing stands for a value one side does not have.
type Missing struct{}

func (Missing) String() string { return "(nothing)" }

// MarshalJSON writes what String says.
func (m Missing) MarshalJSON() ([]byte, error) { return json.Marshal(m.String()) }

func (d Difference) String() string {
	if d.Want == any(Missing{}) && d.Got == any(Missing{}) {
		return d.Path // a start-up difference says it all in one line
	}
	return fmt.Sprintf("%s: recorded %s, replayed %s", d.Path, text(d.Want), text(d.Got))
}

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// compare walks two decoded JSON values, counting leaves and collecting differences.
func (r *Report) compare(path string, want, got any) {
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			r.compareObjects(path, w, g)
			return
		}
	case []any:
		if g, ok := got.([]any); ok {
			r.compareLists(path, w, g)
			return
		}
	default:
		r.Values++
		if equal(want, got) {
			return
		}
		r.Differences = append(r.Differences, Difference{path, want, got})
		return
	}
	r.Values++
	r.Differences = append(r.Differences, Difference{path, want, got})
}

func (r *Report) compareObjects(path string, want, got map[string]any) {
	all := maps.Clone(want)
	maps.Copy(all, got)
	for _, k := range sortedKeys(all) {
		w, inWant := want[k]
		g, inGot := got[k]
		if !inWant {
			w = Missing{}
		}
		if !inGot {
			g = Missing{}
		}
		r.compare(path+"."+k, w, g)
	}
}

func (r *Report) compareLists(path string, want, got []any) {
	if len(want) == 0 && len(got) == 0 {
		r.Values++
		return
	}
	for i := range max(len(want), len(got)) {
		w, g := any(Missing{}), any(Missing{})
		if i < len(want) {
			w = want[i]
		}
		if i < len(got) {
			g = got[i]
		}
		r.compare(fmt.Sprintf("%s[%d]", path, i), w, g)
	}
}

// equal compares leaves; numbers by value.
func equal(a, b any) bool {
	x, xn := a.(json.Number)
	y, yn := b.(json.Number)
	if !xn || !yn {
		return a == b
	}
	if x == y {
		return true
	}
	f, err1 := x.Float64()
	g, err2 := y.Float64()
	return err1 == nil && err2 == nil && f == g
}
