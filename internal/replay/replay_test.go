package replay

import (
	"encoding/json"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

func TestCompare(t *testing.T) {
	keep.Rule(t, "FID-10")
	for _, c := range []struct {
		want, got   string
		values      int
		differences string
	}{
		{`{"a":1,"b":[1,2]}`, `{"a":1.0,"b":[1,2]}`, 3, ""},
		{`{"a":1}`, `{"a":2}`, 1, `a: recorded 1, replayed 2`},
		{`{"a":1}`, `{}`, 1, `a: recorded 1, replayed "(nothing)"`},
		{`{}`, `{"a":1}`, 1, `a: recorded "(nothing)", replayed 1`},
		{`{"a":[1]}`, `{"a":[1,2]}`, 2, `a[1]: recorded "(nothing)", replayed 2`},
		{`{"a":0}`, `{"a":-0.0}`, 1, ""},
		{`{"a":[]}`, `{"a":[]}`, 1, ""},
		{`{"a":null}`, `{"a":false}`, 1, `a: recorded null, replayed false`},
		{`{"a":{"b":"x"}}`, `{"a":["x"]}`, 1, `a: recorded {"b":"x"}, replayed ["x"]`},
	} {
		var r Report
		r.Compare("", decode(t, c.want), decode(t, c.got))
		got := ""
		for _, d := range r.Differences {
			got += d.String()
		}
		if got != c.differences || r.Values != c.values {
			t.Errorf("%s with %s: got %d values, %q; want %d, %q", c.want, c.got, r.Values, got, c.values, c.differences)
		}
	}
}

// TestLargeIntegersDiffer: hashes have 64 bits, of which a float64 keeps 53.
func TestLargeIntegersDiffer(t *testing.T) {
	doc := func() map[string]any { return map[string]any{"hash": json.Number("1152921504606846977")} }
	bad := doc()
	if _, err := Corrupt(bad, nil, 0); err != nil {
		t.Fatal(err)
	}
	var r Report
	if r.Compare("", doc(), bad); len(r.Differences) != 1 {
		t.Errorf("%v against %v: got %v, want one difference", doc(), bad, r.Differences)
	}
}

func decode(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return numbers(v)
}

// numbers turns float64 into json.Number, as a decoder with UseNumber gives.
func numbers(v any) any {
	switch t := v.(type) {
	case float64:
		b, _ := json.Marshal(t)
		return json.Number(b)
	case []any:
		for i := range t {
			t[i] = numbers(t[i])
		}
	case map[string]any:
		for k := range t {
			t[k] = numbers(t[k])
		}
	}
	return v
}

func TestCorruptedTraceDiffers(t *testing.T) {
	keep.Rule(t, "FID-10")
	given := map[string]bool{"input": true}
	const trace = `{"input":{"a":1},"error":null,"steps":[{"it":1,"mode":"x","full":true},{"it":2,"list":[7]}]}`
	for n, path := range []string{"error", "steps[0].full", "steps[0].it", "steps[0].mode", "steps[1].it", "steps[1].list[0]"} {
		bad := decode(t, trace).(map[string]any)
		got, err := Corrupt(bad, given, n)
		if err != nil || got != path {
			t.Errorf("value %d: got %q, want %q", n, got, path)
		}
		rep, err := Check("t", bad, given, func(map[string]any) (map[string]any, error) {
			return outcome(decode(t, trace).(map[string]any), given), nil
		})
		if err != nil || len(rep.Differences) != 1 || rep.Differences[0].Path != path || rep.Draw() == "" {
			t.Errorf("value %d: got %v, %v; want one difference at %s, drawn", n, rep.Differences, err, path)
		}
		if rep.Values != 6 || rep.Steps != 2 {
			t.Errorf("got %d values in %d steps, want 6 in 2", rep.Values, rep.Steps)
		}
	}
	for n, doc := range map[int]string{-1: trace, 6: trace, 0: `{"input":1}`} {
		if got, err := Corrupt(decode(t, doc).(map[string]any), given, n); err == nil {
			t.Errorf("value %d of %s: got %s changed, want a refusal", n, doc, got)
		}
	}
}
