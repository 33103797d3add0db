package strict_test

import (
	"encoding"
	"fmt"
	"io/fs"
	"os"
	"path"
	"reflect"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
	"github.com/inference-sim/accuracy-dashboard/registry"
	"gopkg.in/yaml.v3"
)

// kinds is a field of each kind that a document may be read into.
type kinds struct {
	Text    string
	Pointer *string
	Number  float64
	Whole   int8
	Count   uint64
	Truth   bool
	Pair    [2]float64
	List    []int
	Nested  []kinds
	Map     map[string]any
	Named   named
	Counts  map[string]int
	Any     any
	Own     own
	Node    yaml.Node
	Inner   `yaml:",inline"`
	hidden  string
}

// Inner is inline.
type Inner struct {
	Deep *kinds `yaml:"deep"`
}

type (
	named map[string]any
	own   string
)

func (o *own) UnmarshalText(text []byte) error {
	if len(text) > 9 {
		return fmt.Errorf("%q is long", text)
	}
	*o = own("<" + string(text) + ">")
	return nil
}

var _ encoding.TextUnmarshaler = new(own)

// same reads doc both ways and reports whether it was read directly.
func same[T any](t *testing.T, doc string) bool { return alike[T](t, "YAML", doc) }

func alike[T any](t *testing.T, language, doc string) bool {
	t.Helper()
	var got, want T
	ways := strict.Ways[language]
	if !ways.Direct([]byte(doc), &got) {
		if !reflect.ValueOf(&got).Elem().IsZero() {
			t.Errorf("%q: left to the book with %+v in the target", doc, got)
		}
		return false
	}
	if err := ways.ByTheBook("f", []byte(doc), &want); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%q: got %+v directly, by the book %+v, %v", doc, got, want, err)
	}
	return true
}

// documents are what is read directly (true) and what only looks like it.
var documents = map[string]bool{
	"text: a\nnumber: 1.5e3\nwhole: -7\ncount: 0\ntruth: true\npair: [1, 2]\nlist: [1, 2]\n": true,
	"text: 0.5.14\nown: b c\npointer: 'it''s'\ndeep: {text: \"a: b # c\"}\n":                 true,
	"nested:\n- text: a\n  list:\n  - 1\n  - 2\n# comment\n\n- number: 2\n":                  true,
	"nested:\n  - deep:\n      text: |\n        a\n         # b \n  - text: c":               true,
	"map: {a: 1, b: [x y, 1.5, \"\", {c: true}]}\nany: [[], {}]\n":                           false, // a truth of no type
	"map: {a: 1, b: [x y, 1.5, \"\", {c: d}]}\nany: [[], {}]\n":                              true,
	"any:\n  a: b\n  c:\n    - {d: 1}\n":                                                     true,
	"{\"text\":\"a\",\"number\":-1,\"deep\":{\"counts\":{\"x\":1}}}":                         true,
	"named: {a: {b: 1}}\n":               false, // yaml.v3 carries the named type on
	"text: a\n  b\n":                     false, // one scalar of two lines
	"text: a\n# c\n  b\n":                false,
	"text: null\n":                       false,
	"text:\nnumber: 1\n":                 false,
	"text: .nan\n":                       false,
	"text: a #b\n":                       false,
	"text: a#b\n":                        true,
	"text: a:b\n":                        true,
	"text: a: b\n":                       false,
	"text: \"a\\n\"\n":                   false,
	"text: \"a\" b\n":                    false,
	"text: -\n":                          false,
	"text: -a\n":                         true,
	"text: |\n  a\n\n  b\n":              false,
	"text: |\n  a":                       false,
	"text: |\n  a\n":                     true,
	"text: >\n  a\n":                     false,
	"text: a\ntext: b\n":                 false,
	"counts: {a: 1, a: 2}\n":             false,
	"counts: {yes: 1}\n":                 false,
	"whole: 1e2\n":                       false,
	"whole: 128\n":                       false,
	"whole: 010\n":                       false,
	"count: -1\n":                        false,
	"number: -0\n":                       false,
	"number: 1_0\n":                      false,
	"number: \"1\"\n":                    false,
	"any: 2026-08-20\n":                  false,
	"any: yes\n":                         false,
	"any: 0x10\n":                        false,
	"truth: yes\n":                       false,
	"pair: [1]\n":                        false,
	"own: 0123456789\n":                  false,
	"node: {kind: 1}\n":                  false,
	"hidden: a\n":                        false,
	"other: a\n":                         false,
	"nested:\n-  text: a\n":              false,
	"nested:\n- text: a\n   number: 1\n": false,
	"nested:\n - text: a\n- text: b\n":   false,
	"list: [1, 2,]\n":                    false,
	"list: [1 2]\n":                      false,
	"list: [1\n, 2]\n":                   false,
	"list: [1] # one\n":                  false,
	"any: &a b\n":                        false,
	"any: *a\n":                          false,
	"any: !!str 1\n":                     false,
	"<<: {text: a}\n":                    false,
	"---\ntext: a\n":                     false,
	"text: a\n---\ntext: b\n":            false,
	"text: a\n...\n":                     false,
	"text: a\r\n":                        false,
	"text: a\tb\n":                       false,
	"text: a \n":                         false,
	"\ufefftext: a\n":                    false,
	"text: \u2028\n":                     false,
	"text: \u00e9\u00d7\n":               true,
	"text: \xff\n":                       false,
	"- a\n":                              false,
	"a\n":                                false,
	"":                                   false,
}

func TestWhatIsReadDirectlyMeansWhatYAMLSays(t *testing.T) {
	for doc, want := range documents {
		if got := same[kinds](t, doc); got != want {
			t.Errorf("%q: read directly %v, want %v", doc, got, want)
		}
		same[any](t, doc)
		same[map[string]any](t, doc)
	}
}

// jsonDocuments are what is read directly (true) and what is not.
var jsonDocuments = map[string]bool{
	"{\"Text\":\"a\",\"Number\":-1.5e3,\"Whole\":-7,\"Count\":0,\"Truth\":true,\"Pair\":[1,2]}\n":     true,
	" {\n\"List\" : [1,\t2], \"Nested\": [{}, {\"Own\": \"x\"}],\r\n\"Pointer\":\"\\u00e9\\n\\\"\"} ": true,
	"{\"Map\":{\"a\":1,\"b\":[\"c\",{}]},\"Any\":[1.0,\"2\"],\"deep\":{\"Counts\":{\"x\":1}}}":        false, // its name in JSON is Deep
	"{\"Map\":{\"a\":1,\"b\":[\"c\",{}]},\"Any\":[1.0,\"2\"],\"Deep\":{\"Counts\":{\"x\":1}}}":        true,
	"{\"text\":\"a\"}":                     false, // encoding/json takes it for Text
	"{\"Text\":null}":                      false,
	"{\"Text\":1}":                         false,
	"{\"Number\":\"1\"}":                   false,
	"{\"Own\":1}":                          false,
	"{\"Whole\":1.0}":                      false,
	"{\"Whole\":128}":                      false,
	"{\"Number\":01}":                      false,
	"{\"Number\":.5}":                      false,
	"{\"Text\":\"a\",\"Text\":\"b\"}":      false,
	"{\"Counts\":{\"a\":1,\"\\u0061\":2}}": false,
	"{\"Pair\":[1]}":                       false,
	"{\"Text\":'a'}":                       false,
	"{Text:\"a\"}":                         false,
	"{\"List\":[1,]}":                      false,
	"{\"Text\":\"a\"} {}":                  false,
	"{\"Text\":\"a\nb\"}":                  false,
	"{\"Text\":\"\xff\"}":                  false,
	"{\"Text\":\"a\"":                      false,
	"{\"hidden\":\"a\"}":                   false,
	"[]":                                   false,
	"":                                     false,
}

func TestWhatIsReadDirectlyMeansWhatJSONSays(t *testing.T) {
	for doc, want := range jsonDocuments {
		if got := alike[kinds](t, "JSON", doc); got != want {
			t.Errorf("%q: read directly %v, want %v", doc, got, want)
		}
		alike[any](t, "JSON", doc)
	}
}

func FuzzDirectJSON(f *testing.F) {
	for doc := range jsonDocuments {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		alike[kinds](t, "JSON", doc)
		alike[any](t, "JSON", doc)
		alike[[]kinds](t, "JSON", doc)
	})
}

// A target that holds something already is the book's: it keeps what a document leaves out.
func TestATargetWithValuesKeepsThem(t *testing.T) {
	v := kinds{Number: 2}
	if err := strict.YAML("f", []byte("text: a\n"), &v); err != nil || v.Number != 2 || v.Text != "a" {
		t.Errorf("got %+v, %v, want the number kept", v, err)
	}
}

func FuzzDirect(f *testing.F) {
	for doc := range documents {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		same[kinds](t, doc)
		same[any](t, doc)
		same[[]kinds](t, doc)
	})
}

// The data files of the module are read directly, and mean what YAML says.
func TestDataFilesAreReadDirectly(t *testing.T) {
	read := map[string]func(*testing.T, string) bool{
		"hardware": same[catalog.Chip], "models": same[catalog.Model], "networks": same[catalog.Network], "routers": same[catalog.RouterTable],
		"sources": same[catalog.Source], "graph.yaml": same[catalog.Graph],
	}
	each := func(files fs.FS, kind func(p string) func(*testing.T, string) bool) {
		n := 0
		err := fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := fs.ReadFile(files, p)
			if n++; err == nil && !kind(p)(t, string(text)) {
				t.Errorf("%s: is left to the book", p)
			}
			return err
		})
		if err != nil || n == 0 {
			t.Errorf("read %d files, %v", n, err)
		}
	}
	each(catalog.EmbeddedFS(), func(p string) func(*testing.T, string) bool {
		if path.Base(p) == "graph.yaml" {
			return read["graph.yaml"]
		}
		top, _, _ := strings.Cut(p, "/")
		return read[top]
	})
	each(registry.EmbeddedFS(), func(string) func(*testing.T, string) bool { return same[registry.Set] })
	for _, engine := range []string{"vllm", "sglang"} {
		list, err := os.ReadFile("../../engines/" + engine + "/fields.json")
		if err != nil || !alike[fields.List](t, "JSON", string(list)) {
			t.Errorf("the field list of %s: is left to the book, %v", engine, err)
		}
	}
}
