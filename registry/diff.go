package registry

import (
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/internal/fmath"
)

// Change is one entry that differs between two registries.
type Change struct {
	Key    Key
	Method string
	What   string // "added", "removed", or what moved and how far
}

func (c Change) String() string { return fmt.Sprintf("%s %s: %s", c.Key, c.Method, c.What) }

// Diff lists what b holds differently from a, in the registries' order. A price
// moves by at most the largest factor shown, times the change of the launch time.
func Diff(a, b *Registry) ([]Change, error) {
	before, err := a.Entries()
	if err != nil {
		return nil, err
	}
	after, err := b.Entries()
	if err != nil {
		return nil, err
	}
	old := map[string]*Entry{}
	for _, e := range before {
		old[e.identity()] = e
	}
	var out []Change
	for _, e := range after {
		was := old[e.identity()]
		delete(old, e.identity())
		if what := moved(was, e); what != "" {
			out = append(out, Change{e.Key, e.Method, what})
		}
	}
	for _, e := range before {
		if old[e.identity()] != nil {
			out = append(out, Change{e.Key, e.Method, "removed"})
		}
	}
	return out, nil
}

// moved says how b differs from a; "" when prices agree.
func moved(a, b *Entry) string {
	switch {
	case a == nil:
		return "added"
	case b.Value != nil && a.Value != nil && *a.Value != *b.Value:
		return fmt.Sprintf("value %g to %g %s", *a.Value, *b.Value, b.Unit)
	case a.curve == nil || b.curve == nil || a.curve == b.curve:
		return ""
	}
	lo, hi, same := ratio(a.curve, b.curve)
	switch {
	case !same:
		return "curve has other knots"
	case lo == 1 && hi == 1 && a.curve.LaunchUS == b.curve.LaunchUS:
		return ""
	}
	return fmt.Sprintf("utilisation by factors %.3f to %.3f, launch %g to %g us", lo, hi, a.curve.LaunchUS, b.curve.LaunchUS)
}

// ratio bounds b over a at every point: terms multiply, so their extremes do.
func ratio(a, b *form.Curve) (lo, hi float64, same bool) {
	if len(a.Terms) != len(b.Terms) {
		return 0, 0, false
	}
	logLo, logHi := 0.0, 0.0
	for i := range a.Terms {
		l, h, ok := termRatio(&a.Terms[i], &b.Terms[i])
		if !ok {
			return 0, 0, false
		}
		logLo, logHi = logLo+l, logHi+h
	}
	return fmath.Exp(logLo), fmath.Exp(logHi), true
}

func termRatio(a, b *form.Term) (lo, hi float64, same bool) {
	if len(a.Axes) != len(b.Axes) || len(a.Values) != len(b.Values) {
		return 0, 0, false
	}
	for i := range a.Axes {
		x, _ := a.Axes[i].Knots.MarshalText()
		y, _ := b.Axes[i].Knots.MarshalText()
		if a.Axes[i].Coord != b.Axes[i].Coord || string(x) != string(y) {
			return 0, 0, false
		}
	}
	for r := range a.Values {
		for c := range a.Values[r] {
			v := fmath.Log(b.Values[r][c] / a.Values[r][c])
			if r+c == 0 {
				lo, hi = v, v
			}
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return lo, hi, true
}
