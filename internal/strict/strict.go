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

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"gopkg.in/yaml.v3"
)

// YAML decodes one document of file into v. Fields carry `yaml` tags.
func YAML(file string, data []byte, v any) error {
	var doc yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return &diag.Refusal{File: file, Problem: "is empty", Accept: "one document"}
		}
		return syntax(file, err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return &diag.Refusal{File: file, Problem: "holds more than one document", Accept: "one document"}
	}
	if err := walk(file, "", &doc); err != nil {
		return err
	}
	if err := known(file, "", &doc, reflect.TypeOf(v)); err != nil {
		return err
	}
	if err := doc.Decode(v); err != nil {
		if where := mistyped(file, "", doc.Content[0], reflect.TypeOf(v)); where != nil {
			return where
		}
		return syntax(file, err)
	}
	return nil
}

// walk refuses what yaml.v3 would take silently or report without a field:
// repeated keys, merge keys, aliases and non-finite numbers.
func walk(file, path string, n *yaml.Node) error {
	switch n.Kind {
	case yaml.AliasNode:
		return at(file, path, n, "is an alias", "the value written out")
	case yaml.ScalarNode:
		return finite(file, path, n)
	case yaml.MappingNode:
		return walkMapping(file, path, n)
	}
	for i, c := range n.Content {
		p := path
		if n.Kind == yaml.SequenceNode {
			p = fmt.Sprintf("%s[%d]", path, i)
		}
		if err := walk(file, p, c); err != nil {
			return err
		}
	}
	return nil
}

func walkMapping(file, path string, n *yaml.Node) error {
	seen := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		p := join(path, k.Value)
		if k.Tag == "!!merge" {
			return at(file, p, k, "is a merge key", "the keys written out")
		}
		if line, twice := seen[k.Value]; twice {
			return at(file, p, k, fmt.Sprintf("repeats the key of line %d", line), "each key once")
		}
		seen[k.Value] = k.Line
		if err := walk(file, p, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func finite(file, path string, n *yaml.Node) error {
	if n.Tag != "!!float" {
		return nil
	}
	var f float64
	if err := n.Decode(&f); err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return at(file, path, n, "is not a finite number", "a finite number")
	}
	return nil
}

// known refuses keys that the target type does not have.
func known(file, path string, n *yaml.Node, t reflect.Type) error {
	if n.Kind == yaml.DocumentNode {
		return known(file, path, n.Content[0], t)
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[yaml.Unmarshaler]()) {
		return nil // the type checks its own node
	}
	switch {
	case n.Tag == "!!float" && kindName(t) == wholeNumber:
		return whole(file, path, n)
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Struct:
		return knownFields(file, path, n, t)
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Map:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if err := known(file, join(path, n.Content[i].Value), n.Content[i+1], t.Elem()); err != nil {
				return err
			}
		}
	case n.Kind == yaml.SequenceNode && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array):
		for i, c := range n.Content {
			if err := known(file, fmt.Sprintf("%s[%d]", path, i), c, t.Elem()); err != nil {
				return err
			}
		}
	}
	return nil
}

func knownFields(file, path string, n *yaml.Node, t reflect.Type) error {
	fields := map[string]reflect.Type{}
	var names []string
	collect(t, fields, &names)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		ft, ok := fields[k.Value]
		if !ok {
			return at(file, join(path, k.Value), k, "unknown key", diag.OneOf(k.Value, names))
		}
		if err := known(file, join(path, k.Value), n.Content[i+1], ft); err != nil {
			return err
		}
	}
	return nil
}

func collect(t reflect.Type, fields map[string]reflect.Type, names *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, opts, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case tag == "-" || !f.IsExported():
		case strings.Contains(opts, "inline"):
			collect(f.Type, fields, names)
		default:
			if tag == "" {
				tag = strings.ToLower(f.Name)
			}
			fields[tag] = f.Type
			*names = append(*names, tag)
		}
	}
}

func at(file, path string, n *yaml.Node, problem, accept string) error {
	return &diag.Refusal{File: file, Line: n.Line, Col: n.Column, Field: path, Value: scalar(n), Problem: problem, Accept: accept}
}

// scalar is the value to show: a key node repeats its own path, so it is left out.
func scalar(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && (n.Tag == "!!float" || n.Tag == "!!int") {
		return n.Value
	}
	return ""
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

var lineOf = regexp.MustCompile(`line (\d+): (.*)`)

// syntax turns yaml.v3's error text into a refusal with its line.
func syntax(file string, err error) error {
	if m := lineOf.FindStringSubmatch(err.Error()); m != nil {
		line, _ := strconv.Atoi(m[1])
		return &diag.Refusal{File: file, Line: line, Problem: m[2]}
	}
	return &diag.Refusal{File: file, Problem: strings.TrimPrefix(err.Error(), "yaml: ")}
}
