package strict

import (
	"fmt"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

type doc struct {
	Name string         `yaml:"name" json:"name"`
	Rate float64        `yaml:"rate" json:"rate"`
	Sub  []sub          `yaml:"sub" json:"sub"`
	Args map[string]any `yaml:"args" json:"args"`
	Seed uint64         `yaml:"seed" json:"seed"`
	Unit unit           `yaml:"unit" json:"unit"`
}

// unit reads itself from text.
type unit uint8

func (u *unit) UnmarshalText(b []byte) error {
	if string(b) != "ms" {
		return fmt.Errorf("%q is not a unit", b)
	}
	return nil
}

type sub struct {
	N int `yaml:"n" json:"n"`
}

func TestYAML(t *testing.T) {
	keep.Rule(t, "SUB-12")
	cases := []struct{ name, in, want string }{ // want "" accepts
		{"accepted", "name: a\nrate: 1.5\nsub: [{n: 1}]\nargs: {x: {y: 1}}\n", ""},
		{"unknown key", "name: a\nrats: 1\n", "f.yaml:2:1: rats: unknown key"},
		{"unknown nested key", "sub:\n- n: 1\n- m: 2\n", "f.yaml:3:3: sub[1].m: unknown key"},
		{"repeated key", "name: a\nname: b\n", "f.yaml:2:1: name: repeats the key of line 1"},
		{"NaN", "rate: .nan\n", "f.yaml:1:7: rate: .nan: is not a finite number"},
		{"infinity in free map", "args: {x: .inf}\n", "f.yaml:1:11: args.x: .inf: is not a finite number"},
		{"wrong type", "rate: fast\n", "f.yaml:1:7: rate: fast: is of the wrong type or out of its range"},
		{"a scalar for a list", "sub: 3\n", "f.yaml:1:6: sub: 3: is of the wrong type"},
		{"a list for a scalar", "sub: [{n: [1]}]\n", "f.yaml:1:11: sub[0].n: is of the wrong type"},
		{"below an unsigned type", "seed: -1\n", "f.yaml:1:7: seed: -1: is of the wrong type or out of its range"},
		{"least of an unsigned type", "seed: 0\n", ""},
		{"part of an integer", "sub: [{n: 1.5}]\n", "f.yaml:1:11: sub[0].n: 1.5: is not a whole number"},
		{"a whole float for an integer", "sub: [{n: 1e4}]\n", ""},
		{"beyond 64 bits", "sub: [{n: 9223372036854775808.0}]\n", "sub[0].n: 9223372036854775808.0: is not a whole number of 64 bits"},
		{"text its type refuses", "unit: s\n", "f.yaml:1:7: unit: \"s\" is not a unit"},
		{"text its type takes", "unit: ms\n", ""},
		{"null", "name:\nsub: [{n: }]\n", ""},
		{"octal by a zero", "rate: 010\n", "f.yaml:1:7: rate: 010: begins with a zero"},
		{"octal in a list", "sub: [{n: -07}]\n", "sub[0].n: -07: begins with a zero"},
		{"octal in a free map", "args: {x: [1, 08.5]}\n", "args.x[1]: 08.5: begins with a zero"},
		{"a fraction", "rate: 0.10\n", ""},
		{"a zero, and octal that says so", "seed: 0\nsub: [{n: 0o17}]\n", ""},
		{"digits of a text", "name: 010\n", ""},
		{"an empty entry", "sub: [{n: 1}, ]\nargs: {x: [1, ~]}\n", "f.yaml:2:15: args.x[1]: is an empty entry"},
		{"an empty entry of a block", "sub:\n- n: 1\n-\n", "f.yaml:3:2: sub[1]: is an empty entry"},
		{"no syntax, on the first line", "name: [}\n", "f.yaml:1: did not find"},
		{"no syntax, on the second line", "rate: 1\nname: [}\n", "f.yaml:2: did not find"},
		{"an alias of nothing", "rate: 1\nname: *x\n", "f.yaml:2:7: unknown anchor 'x'"},
		{"a byte that is no text", "rate: 1\nname: a\x01\n", "f.yaml:2:8: control characters"},
		{"two documents", "name: a\n---\nname: b\n", "f.yaml: holds more than one document"},
		{"empty", "", "f.yaml: is empty"},
		{"alias", "name: &x a\nargs: {y: *x}\n", "f.yaml:2:11: args.y: is an alias"},
		{"broken", "name: [\n", "f.yaml:1: did not find"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { check(t, YAML("f.yaml", []byte(c.in), new(doc)), c.want) })
	}
}

func TestJSON(t *testing.T) {
	keep.Rule(t, "SUB-12")
	cases := []struct{ name, in, want string }{
		{"accepted", `{"name":"a","rate":1.5,"sub":[{"n":1}],"args":{"x":9007199254740993}}`, ""},
		{"unknown key", "{\"name\":\"a\",\n\"rats\":1}", "f.json:2:"},
		{"repeated key", `{"args":{"x":1,"x":2}}`, "args.x: repeats a key"},
		{"repeated key of an object in a list", "{\"sub\":[{\"n\":1},\n{\"n\":1,\"n\":2}]}", "f.json:2:11: sub[1].n: repeats a key"},
		{"repeated key, written otherwise", `{"args":{"é":[],"\u00e9":{}}}`, "args.é: repeats a key"},
		{"a key again elsewhere", `{"args":{"x":{"x":"\"x}"},"y":[{"x":[1,{}]},{"x":null}]},"name":"args"}`, ""},
		{"wrong type", `{"rate":"fast"}`, "rate: is a string"},
		{"a list for a mapping", `[]`, "f.json:1:2: is an array"},
		{"beyond its type", `{"rate":1e999}`, "rate: 1e999: is of the wrong type or out of its range"},
		{"empty", " \n", "f.json: is empty"},
		{"byte order mark", "\xef\xbb\xbf{}", "f.json:1: begins with a byte order mark"},
		{"trailing", `{} {}`, "more follows the document"},
		{"truncated", `{"name":"a"`, "ends too early"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { check(t, JSON("f.json", []byte(c.in), new(doc)), c.want) })
	}
}

// What another tool wrote may say more than is asked, but not say it wrong.
func TestForeign(t *testing.T) {
	for in, want := range map[string]string{
		`{"name":"a","more":[1]}`:     "",
		`{"name":"a","name":"b"}`:     "f.json:1:19: name: repeats a key",
		"{\"more\":1,\n\"seed\":0.5}": "f.json:2:11: seed: 0.5: is of the wrong type or out of its range",
		`{"seed":1`:                   "ends too early",
	} {
		check(t, Foreign("f.json", []byte(in), new(doc)), want)
	}
}

func check(t *testing.T, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || (err != nil && !strings.Contains(err.Error(), want)) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func FuzzYAML(f *testing.F) {
	f.Add([]byte("name: a\nsub: [{n: 1}]"))
	f.Fuzz(func(t *testing.T, b []byte) { _ = YAML("f", b, new(doc)) })
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"name":"a","sub":[{"n":1}]}`))
	f.Fuzz(func(t *testing.T, b []byte) { _ = JSON("f", b, new(doc)) })
}
