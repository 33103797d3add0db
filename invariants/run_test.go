package invariants

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestARunIsMeasured(t *testing.T) {
	m, err := Load(fstest.MapFS{"a/a_test.go": {Data: []byte(sound)}, "a/a.go": {Data: []byte("package a\n\nfunc Check(s string) error { return nil }\n")}})
	if err != nil {
		t.Fatal(err)
	}
	proven, open := Check{Test: "a.TestA", Bad: "a.TestBad"}, Check{Test: "a.TestA", Bad: "a.TestA"}
	for _, c := range []struct {
		checks       []Check
		failed, left []string
		want         string
	}{
		{[]Check{proven}, nil, nil, "held, 1 of 1 checks proven"},
		{[]Check{open}, nil, nil, "held, 0 of 1 checks proven"},
		{[]Check{proven}, []string{"a.TestA"}, nil, "failed, 1 of 1 checks"},
		{[]Check{proven}, nil, []string{"a.TestA"}, "held, 0 of 1 checks proven, 1 left out"},
		{nil, nil, nil, "no check"},
	} {
		got := Measure(Record{ID: "X1", Checks: c.checks}, m, c.failed, c.left)
		if got.Result() != c.want || len(c.failed) > 0 && got.Proven > 0 {
			t.Errorf("%v, %v failed: got %q with %d proven, want %q", c.checks, c.failed, got.Result(), got.Proven, c.want)
		}
	}
}

func TestReadRunRefuses(t *testing.T) {
	const whole = `{"schema": "blis.rules/1", "commit": "c", "tree": "t", "rules": [{"id": "X1", "declared": "ci", "checks": 1, "proven": 1}]}`
	rules := []Record{{ID: "X1", Status: CI, Checks: []Check{{Test: "a.TestA"}}}}
	for _, c := range []struct{ from, to, want string }{
		{"", "", ""},
		{"blis.rules/1", "blis.rules/2", "schema: blis.rules/2"},
		{`"c"`, `"d"`, "commit: d: is not the commit of this program"},
		{"X1", "X2", "X2: does not agree with the record"},
		{`"ci"`, `"new"`, "does not agree"},
		{`"proven": 1`, `"proven": 2`, "does not agree"},
		{`[{"id": "X1", "declared": "ci", "checks": 1, "proven": 1}]`, "[]", "are not all rules"},
		{`"tree"`, `"root"`, "unknown key"},
	} {
		_, err := ReadRun("r.json", []byte(strings.Replace(whole, c.from, c.to, 1)), rules, "c")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: got %v, want %q", c.to, c.from, err, c.want)
		}
	}
}
