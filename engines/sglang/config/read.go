package config

// This file is the project's own: upstream leaves reading to argparse.

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// reader takes arguments by name, notes where each value came from and keeps the
// first failure.
type reader struct {
	args map[string]any
	c    *Config
	err  error
}

func newReader(args map[string]any, c *Config) *reader {
	return &reader{args: args, c: c}
}

func (r *reader) note(name, kind, why string, v any) {
	r.c.Sources[name] = Source{kind, why}
	r.c.Values[name] = fmt.Sprint(v)
}

func (r *reader) fail(name string, v any, problem, accept string) {
	if r.err == nil {
		r.err = &diag.Refusal{Field: "engine.args." + name, Value: fmt.Sprint(v), Problem: problem, Accept: accept, Rule: "X1"}
	}
}

// has says whether an argument was stated.
func (r *reader) has(name string) bool { return r.args[name] != nil }

// largest bounds what sizes a list of graphs that is written out, and the seed, which
// NumPy takes as 32 bits.
var largest = map[string]float64{
	"chunked-prefill-size": 1 << 24, "max-prefill-tokens": 1 << 24, "cuda-graph-max-bs": 1 << 16, "random-seed": math.MaxUint32,
}

// int reads a whole number of at least least.
func (r *reader) int(name string, def, least int) int {
	v, stated := r.args[name], r.has(name)
	if !stated {
		if r.note(name, "default", "", def); def == 0 {
			r.c.Values[name] = "unset"
		}
		return def
	}
	f, ok := number(v)
	most, bounded := largest[name]
	switch {
	case !ok || f != math.Trunc(f) || math.Abs(f) > 1<<53:
		r.fail(name, v, "invalid int value", fmt.Sprintf("an integer >= %d", least))
		return def
	case bounded && f > most:
		r.fail(name, v, "is too large", fmt.Sprintf("an integer from %d to %.0f", least, most))
		return def
	case f < float64(least):
		r.fail(name, v, "is too small", fmt.Sprintf("an integer >= %d", least))
		return def
	}
	r.note(name, "stated", "", v)
	return int(f)
}

// float reads a finite number that is not negative.
func (r *reader) float(name string, def float64) float64 {
	v, stated := r.args[name], r.has(name)
	if !stated {
		r.note(name, "default", "", def)
		return def
	}
	f, ok := number(v)
	if !ok || !(f >= 0) || math.IsInf(f, 1) {
		r.fail(name, v, "invalid float value", "a finite number >= 0")
		return def
	}
	r.note(name, "stated", "", v)
	return f
}

func (r *reader) flag(name string) bool {
	v, stated := r.args[name], r.has(name)
	if !stated {
		r.note(name, "default", "", false)
		return false
	}
	b, err := strconv.ParseBool(fmt.Sprint(v))
	if err != nil {
		r.fail(name, v, "is not a flag's value", "true, false")
	}
	r.note(name, "stated", "", b)
	return b
}

// choice is a text argument of a closed set.
func (r *reader) choice(name, def string, set ...string) string {
	v, stated := r.args[name], r.has(name)
	if !stated {
		r.note(name, "default", "", def)
		return def
	}
	text := fmt.Sprint(v)
	for _, s := range set {
		if s == text {
			r.note(name, "stated", "", text)
			return text
		}
	}
	r.fail(name, v, "invalid choice", diag.OneOf(text, set))
	return def
}

func (r *reader) list(name string) []int {
	v, stated := r.args[name], r.has(name)
	if !stated {
		return nil
	}
	items, ok := v.([]any)
	if !ok {
		items = []any{v}
	}
	var out []int
	for _, it := range items {
		f, ok := number(it)
		if !ok || f != math.Trunc(f) || f < 1 || f > 1<<53 {
			r.fail(name, v, "invalid list of sizes", "integers >= 1")
			return nil
		}
		out = append(out, int(f))
	}
	r.note(name, "stated", "", v)
	return out
}

func number(v any) (float64, bool) {
	switch t := v.(type) {
	case int:
		return float64(t), true
	case int64:
		return float64(t), true
	case float64:
		return t, true
	case json.Number:
		f, err := t.Float64()
		return f, err == nil
	case string:
		f, err := strconv.ParseFloat(t, 64)
		return f, err == nil
	}
	return 0, false
}
