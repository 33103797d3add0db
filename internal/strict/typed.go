package strict

import (
	"encoding"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"gopkg.in/yaml.v3"
)

const wholeNumber = "a whole number"

// kindName is what a value of t is called in a hint; "" when its own decoder says.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return wholeNumber
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Struct, reflect.Map:
		return "a mapping"
	case reflect.Slice, reflect.Array:
		return "a list"
	}
	return ""
}

// accepted is kindName with the range that an integer type has.
func accepted(t reflect.Type) string {
	switch name := kindName(t); {
	case name != wholeNumber:
		return name
	case t.Kind() >= reflect.Uint:
		return name + " from 0 to " + strconv.FormatUint(math.MaxUint64>>(64-t.Bits()), 10)
	default:
		return name + " from " + strconv.FormatInt(math.MinInt64>>(64-t.Bits()), 10) + " to " + strconv.FormatInt(math.MaxInt64>>(64-t.Bits()), 10)
	}
}

// whole refuses a fraction, which yaml.v3 would cut off, and what it would wrap.
func whole(n *yaml.Node) error {
	var f float64
	if n.Decode(&f) == nil && (f != math.Trunc(f) || math.Abs(f) >= 1<<63) {
		return at(n, "is not a whole number of 64 bits", wholeNumber)
	}
	return nil
}

// mistyped finds the first node that its part of t cannot hold. It is asked only
// after decoding failed.
func mistyped(n *yaml.Node, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	own := reflect.PointerTo(t).Implements(unmarshaler)
	fields := map[string]reflect.Type{}
	switch {
	case own || n.Tag == "!!null":
		return nil
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Struct:
		collect(t, fields, new([]string))
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Map:
		for i := 0; i+1 < len(n.Content); i += 2 {
			fields[n.Content[i].Value] = t.Elem()
		}
	case n.Kind == yaml.SequenceNode && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array):
		for i, c := range n.Content {
			if err := mistyped(c, t.Elem()); err != nil {
				return inItem(i, err)
			}
		}
		return nil
	default:
		err := n.Decode(reflect.New(t).Interface())
		if kindName(t) == "" || err == nil {
			return nil
		}
		if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) { // its own words say more
			return at(n, strings.TrimPrefix(err.Error(), "yaml: "), "")
		}
		return &diag.Refusal{Line: n.Line, Col: n.Column, Value: n.Value, Problem: "is of the wrong type or out of its range", Accept: accepted(t)}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if err := mistyped(n.Content[i+1], fields[n.Content[i].Value]); err != nil {
			return inKey(n.Content[i].Value, err)
		}
	}
	return nil
}
