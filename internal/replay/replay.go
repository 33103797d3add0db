// Package replay compares a recorded engine run with a port's run of the same
// scenario, value by value.
//
// In: two decoded JSON documents. Out: how many values were compared and where they
// differ. A value only one side has is a difference; nothing is skipped. It runs no
// engine and reads no file. Rules kept: VLM-2, SGL-2 of the Target Design.
package replay

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Report is the outcome of replaying one trace.
type Report struct {
	Name        string
	Steps       int // loop iterations recorded
	Values      int // values compared
	Differences []Difference

	recorded, replayed map[string]any // for Draw
}

// Check runs a trace's scenario again and compares the outcomes. given names the
// trace's keys that are input; run turns the trace into an outcome of the same form.
func Check(name string, trace map[string]any, given map[string]bool, run func(map[string]any) (map[string]any, error)) (Report, error) {
	rep := Report{Name: name, recorded: outcome(trace, given)}
	var err error
	if rep.replayed, err = run(trace); err != nil {
		return rep, err
	}
	rep.Compare("", rep.recorded, rep.replayed)
	steps, _ := trace["steps"].([]any)
	rep.Steps = len(steps)
	return rep, nil
}

func outcome(trace map[string]any, given map[string]bool) map[string]any {
	out := maps.Clone(trace)
	maps.DeleteFunc(out, func(k string, _ any) bool { return given[k] })
	return out
}

// Difference is one value that does not match.
type Difference struct {
	Path string // e.g. "steps[3].reqs[0][1]"
	Want any    // recorded; Missing when only the replay has it
	Got  any    // replayed; Missing when only the trace has it
}

// Missing stands for a value one side does not have.
type Missing struct{}

func (Missing) String() string { return "(nothing)" }

// MarshalJSON writes what String says.
func (m Missing) MarshalJSON() ([]byte, error) { return json.Marshal(m.String()) }

func (d Difference) String() string {
	return fmt.Sprintf("%s: recorded %s, replayed %s", d.Path, text(d.Want), text(d.Got))
}

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// Compare adds to r every value of want and got below path. Numbers are
// json.Number and equal by value.
func (r *Report) Compare(path string, want, got any) {
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			r.objects(path, w, g)
			return
		}
	case []any:
		if g, ok := got.([]any); ok && len(w)+len(g) > 0 {
			r.lists(path, w, g)
			return
		} else if ok {
			r.Values++
			return
		}
	default:
		if r.Values++; !equal(want, got) {
			r.differ(path, want, got)
		}
		return
	}
	r.Values++
	r.differ(path, want, got)
}

func (r *Report) differ(path string, want, got any) {
	r.Differences = append(r.Differences, Difference{strings.TrimPrefix(path, "."), want, got})
}

func (r *Report) objects(path string, want, got map[string]any) {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(want)), maps.Keys(got))
	slices.Sort(keys)
	for _, k := range slices.Compact(keys) {
		r.Compare(path+"."+k, orMissing(want, k), orMissing(got, k))
	}
}

func orMissing(m map[string]any, k string) any {
	if v, ok := m[k]; ok {
		return v
	}
	return Missing{}
}

func (r *Report) lists(path string, want, got []any) {
	at := func(list []any, i int) any {
		if i < len(list) {
			return list[i]
		}
		return Missing{}
	}
	for i := range max(len(want), len(got)) {
		r.Compare(fmt.Sprintf("%s[%d]", path, i), at(want, i), at(got, i))
	}
}

func equal(a, b any) bool {
	x, xn := a.(json.Number)
	y, yn := b.(json.Number)
	if !xn || !yn {
		return a == b
	}
	if x == y {
		return true
	}
	m, err1 := x.Int64()
	n, err2 := y.Int64()
	if err1 == nil && err2 == nil {
		return m == n // a float64 would blur integers beyond 53 bits, such as hashes
	}
	f, err1 := x.Float64()
	g, err2 := y.Float64()
	return err1 == nil && err2 == nil && f == g
}
