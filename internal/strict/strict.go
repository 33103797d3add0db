// Package strict reads YAML and JSON documents without guessing: an unknown key,
// a repeated key, a NaN or infinity, a second document or a wrong type is
// a refusal that names file, line and field.
//
// In: bytes and a pointer to a struct with yaml or json tags. Out: the struct
// filled, or a *diag.Refusal. It opens no file. Rules kept: SIM-2, SUB-12 of the
// Target Design.
package strict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"gopkg.in/yaml.v3"
)

// YAML decodes one document of file into v. Fields carry `yaml` tags.
func YAML(file string, data []byte, v any) error {
	if direct(data, v) {
		return nil
	}
	return byTheBook(file, data, v)
}

// byTheBook reads all of YAML, and says what is wrong with a document.
func byTheBook(file string, data []byte, v any) error {
	var doc yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return &diag.Refusal{File: file, Problem: "is empty", Accept: "one document"}
		}
		return syntax(file, data, err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return &diag.Refusal{File: file, Problem: "holds more than one document", Accept: "one document"}
	}
	if err := walk(&doc); err != nil {
		return diag.In(file, err)
	}
	if err := (shapes{}).known(&doc, reflect.TypeOf(v)); err != nil {
		return diag.In(file, err)
	}
	if err := doc.Decode(v); err != nil {
		if where := mistyped(doc.Content[0], reflect.TypeOf(v)); where != nil {
			return diag.In(file, where)
		}
		return syntax(file, data, err)
	}
	return nil
}

// walk refuses what yaml.v3 would take silently or report without a field:
// repeated keys, merge keys, aliases and non-finite numbers. A refusal gets its
// field on its way up: most documents are sound, and their paths cost a third of
// reading them.
func walk(n *yaml.Node) error {
	switch n.Kind {
	case yaml.AliasNode:
		return at(n, "is an alias", "the value written out")
	case yaml.ScalarNode:
		return finite(n)
	case yaml.MappingNode:
		return walkMapping(n)
	}
	for i, c := range n.Content {
		err := walk(c)
		if n.Kind != yaml.SequenceNode {
			return err
		}
		if c.Tag == "!!null" { // yaml.v3 drops it, or makes it a zero
			err = at(c, "is an empty entry", "a value, or no entry")
		}
		if err != nil {
			return inItem(i, err)
		}
	}
	return nil
}

func walkMapping(n *yaml.Node) error {
	seen := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Tag == "!!merge" {
			return inKey(k.Value, at(k, "is a merge key", "the keys written out"))
		}
		if line, twice := seen[k.Value]; twice {
			return inKey(k.Value, at(k, fmt.Sprintf("repeats the key of line %d", line), "each key once"))
		}
		seen[k.Value] = k.Line
		if err := walk(n.Content[i+1]); err != nil {
			return inKey(k.Value, err)
		}
	}
	return nil
}

func finite(n *yaml.Node) error {
	if n.Tag != "!!float" {
		return nil
	}
	var f float64
	if err := n.Decode(&f); err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return at(n, "is not a finite number", "a finite number")
	}
	return nil
}

// shapes are the keys of the struct types of one document.
type shapes map[reflect.Type]shape

type shape struct {
	fields map[string]reflect.Type
	names  []string
}

var unmarshaler = reflect.TypeFor[yaml.Unmarshaler]()

// known refuses keys that the target type does not have.
func (s shapes) known(n *yaml.Node, t reflect.Type) error {
	if n.Kind == yaml.DocumentNode {
		return s.known(n.Content[0], t)
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return nil // the type checks its own node
	}
	switch {
	case octal.MatchString(n.Value) && (n.Tag == "!!int" || n.Tag == "!!float") && kindName(t) != kindName(reflect.TypeFor[string]()):
		return at(n, "begins with a zero, which YAML 1.1 reads in base 8", "the number without it, or 0o and octal digits")
	case t.Kind() == reflect.Interface:
		return s.within(n, t)
	case n.Tag == "!!float" && kindName(t) == wholeNumber:
		return whole(n)
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Struct:
		return s.knownFields(n, t)
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Map:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if err := s.known(n.Content[i+1], t.Elem()); err != nil {
				return inKey(n.Content[i].Value, err)
			}
		}
	case n.Kind == yaml.SequenceNode && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array):
		for i, c := range n.Content {
			if err := s.known(c, t.Elem()); err != nil {
				return inItem(i, err)
			}
		}
	}
	return nil
}

// within is known for what lies in an interface.
func (s shapes) within(n *yaml.Node, t reflect.Type) error {
	for i, c := range n.Content {
		err := s.known(c, t)
		switch {
		case err == nil:
		case n.Kind == yaml.SequenceNode:
			return inItem(i, err)
		default:
			return inKey(n.Content[i-i%2].Value, err)
		}
	}
	return nil
}

var octal = regexp.MustCompile(`^[-+]?0[0-9_]`)

func (s shapes) knownFields(n *yaml.Node, t reflect.Type) error {
	of, ok := s[t]
	if !ok {
		of = shape{fields: map[string]reflect.Type{}}
		collect(t, of.fields, &of.names)
		s[t] = of
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		ft, ok := of.fields[k.Value]
		if !ok {
			return inKey(k.Value, at(k, "unknown key", diag.OneOf(k.Value, of.names)))
		}
		if err := s.known(n.Content[i+1], ft); err != nil {
			return inKey(k.Value, err)
		}
	}
	return nil
}

func collect(t reflect.Type, fields map[string]reflect.Type, names *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		switch tag, inline := key(f); {
		case tag == "-" || !f.IsExported():
		case inline:
			collect(f.Type, fields, names)
		default:
			fields[tag] = f.Type
			*names = append(*names, tag)
		}
	}
}

// key is the name of a field in a document; the keys of an inline one stand in its place.
func key(f reflect.StructField) (name string, inline bool) {
	name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	if name == "" {
		name = strings.ToLower(f.Name)
	}
	return name, strings.Contains(options, "inline")
}

// at refuses a node; who holds the node adds its key or index, and YAML the file.
func at(n *yaml.Node, problem, accept string) error {
	return &diag.Refusal{Line: n.Line, Col: n.Column, Value: scalar(n), Problem: problem, Accept: accept}
}

// inKey and inItem put a refusal below a key or an index.
func inKey(key string, err error) error {
	if r, ok := errors.AsType[*diag.Refusal](err); ok {
		if r.Field != "" && r.Field[0] != '[' {
			key += "."
		}
		r.Field = key + r.Field
	}
	return err
}

func inItem(i int, err error) error {
	if r, ok := errors.AsType[*diag.Refusal](err); ok {
		if r.Field != "" && r.Field[0] != '[' {
			r.Field = "." + r.Field
		}
		r.Field = fmt.Sprintf("[%d]%s", i, r.Field)
	}
	return err
}

// scalar is the value to show: a key node repeats its own path, so it is left out.
func scalar(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && (n.Tag == "!!float" || n.Tag == "!!int") {
		return n.Value
	}
	return ""
}

var lineOf = regexp.MustCompile(`line (\d+): (.*)`)

// fromZero are the errors of yaml.v3's parser, whose lines count from 0; those of its
// scanner count from 1.
var fromZero = regexp.MustCompile(`^did not find expected (<|node content|key|'-'|',')|^found (duplicate|incompatible|undefined) `)

// syntax turns yaml.v3's error text into a refusal with its line. The text has none for
// the first line, for a byte that is no text and for an alias of nothing.
func syntax(file string, data []byte, err error) error {
	if m := lineOf.FindStringSubmatch(err.Error()); m != nil {
		line, _ := strconv.Atoi(m[1])
		if fromZero.MatchString(m[2]) {
			line = min(line+1, bytes.Count(bytes.TrimRight(data, "\n"), []byte("\n"))+1) // not beyond the end
		}
		return &diag.Refusal{File: file, Line: line, Problem: m[2]}
	}
	r := &diag.Refusal{File: file, Line: 1, Problem: strings.TrimPrefix(err.Error(), "yaml: ")}
	if m := unknownAnchor.FindStringSubmatch(r.Problem); m != nil {
		r.Line = 0
		if at := []byte("*" + m[1]); bytes.Count(data, at) == 1 {
			r.Line, r.Col = position(data, int64(bytes.Index(data, at)))
		}
	} else if i := unreadable(data); i >= 0 && notText.MatchString(r.Problem) {
		r.Line, r.Col = position(data, int64(i))
	}
	return r
}

var (
	unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced`)
	notText       = regexp.MustCompile(`control characters|UTF-8`)
)

// unreadable is the place of the first byte that is no text, -1 for none.
func unreadable(data []byte) int {
	return bytes.IndexFunc(data, func(c rune) bool {
		return c == utf8.RuneError || c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f
	})
}
