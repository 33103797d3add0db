package config

// This file is the project's own: it words refusals as pydantic does.

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Item is one line of a validation error: where, pydantic's error type, message.
type Item struct{ Loc, Type, Message string }

// Upstream is a refusal in vLLM's words. Class is the exception's name; a
// ValidationError has Items, any other has Text.
type Upstream struct {
	Class string
	Items []Item
	Text  string
}

// Error is the first message, led by the argument it names.
func (u *Upstream) Error() string {
	if len(u.Items) == 0 {
		return u.Text
	}
	var lines []string
	for _, i := range u.Items {
		if i.Loc != "" {
			lines = append(lines, i.Loc+": "+i.Message)
		} else {
			lines = append(lines, i.Message)
		}
	}
	return strings.Join(lines, "; ")
}

func valueError(format string, a ...any) error {
	return &Upstream{Class: "ValueError", Text: fmt.Sprintf(format, a...)}
}

// reject is a ValueError raised inside a model validator.
func reject(format string, a ...any) error {
	return &Upstream{Class: "ValidationError", Items: []Item{{"", "value_error", "Value error, " + fmt.Sprintf(format, a...)}}}
}

func failedAssertion(text string) error {
	return &Upstream{Class: "ValidationError", Items: []Item{{"", "assertion_error", "Assertion failed, " + text}}}
}

// integer reads a value as pydantic's lax mode does.
func integer(v any) (int, *Item) {
	switch x := v.(type) {
	case int:
		return x, nil
	case int64:
		return int(x), nil
	case bool:
		if x {
			return 1, nil
		}
		return 0, nil
	case json.Number:
		if n, err := strconv.Atoi(x.String()); err == nil {
			return n, nil
		}
		f, _ := x.Float64()
		return integer(f)
	case float64:
		if x == math.Trunc(x) {
			return int(x), nil
		}
		return 0, &Item{Type: "int_from_float", Message: "Input should be a valid integer, got a number with a fractional part"}
	case string:
		if n, err := strconv.Atoi(strings.TrimSpace(x)); err == nil {
			return n, nil
		}
		return 0, &Item{Type: "int_parsing", Message: "Input should be a valid integer, unable to parse string as an integer"}
	}
	return 0, &Item{Type: "int_type", Message: "Input should be a valid integer"}
}

func number(v any) (float64, *Item) {
	switch x := v.(type) {
	case float64:
		return x, nil
	case string, json.Number:
		if f, err := strconv.ParseFloat(fmt.Sprint(x), 64); err == nil {
			return f, nil
		}
		return 0, &Item{Type: "float_parsing", Message: "Input should be a valid number, unable to parse string as a number"}
	}
	if n, bad := integer(v); bad == nil {
		return float64(n), nil
	}
	return 0, &Item{Type: "float_type", Message: "Input should be a valid number"}
}

func boolean(v any) (bool, *Item) {
	if b, ok := v.(bool); ok {
		return b, nil
	}
	switch strings.ToLower(fmt.Sprint(v)) {
	case "1", "true", "t", "yes", "y", "on":
		return true, nil
	case "0", "false", "f", "no", "n", "off":
		return false, nil
	}
	if _, ok := v.(string); ok {
		return false, &Item{Type: "bool_parsing", Message: "Input should be a valid boolean, unable to interpret input"}
	}
	return false, &Item{Type: "bool_type", Message: "Input should be a valid boolean"}
}

// bound is one limit of pydantic's Field.
type bound struct {
	op    string // "ge", "gt", "le", "lt"
	limit float64
}

func (b bound) check(v float64) *Item {
	text := strconv.FormatFloat(b.limit, 'f', -1, 64)
	switch {
	case math.IsNaN(v):
		return &Item{Type: "finite_number", Message: "Input should be a finite number"}
	case b.op == "ge" && v < b.limit:
		return &Item{Type: "greater_than_equal", Message: "Input should be greater than or equal to " + text}
	case b.op == "gt" && v <= b.limit:
		return &Item{Type: "greater_than", Message: "Input should be greater than " + text}
	case b.op == "le" && v > b.limit:
		return &Item{Type: "less_than_equal", Message: "Input should be less than or equal to " + text}
	case b.op == "lt" && v >= b.limit:
		return &Item{Type: "less_than", Message: "Input should be less than " + text}
	}
	return nil
}

// orList writes 'a', 'b' or 'c', as pydantic does; numbers stand bare.
func orList(choices []string) string {
	quoted := make([]string, len(choices))
	for i, c := range choices {
		quoted[i] = "'" + c + "'"
		if _, err := strconv.Atoi(c); err == nil {
			quoted[i] = c
		}
	}
	last := len(quoted) - 1
	if last == 0 {
		return quoted[0]
	}
	return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
}
