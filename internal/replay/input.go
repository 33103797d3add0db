package replay

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

// Most bounds what a scenario may count: tokens of a prompt, blocks of a pool,
// iterations. A trace that asks for more is no recording, and a replay of it would
// exhaust the memory or never end.
const Most = 1 << 24

// Limit is a whole number of a scenario with the least and the most a replay takes.
type Limit struct {
	Field              string
	Value, Least, Most int
}

// Within refuses the first number outside its limits.
func Within(limits ...Limit) error {
	for _, l := range limits {
		if l.Value < l.Least || l.Value > l.Most {
			return &diag.Refusal{Field: l.Field, Value: strconv.Itoa(l.Value), Problem: "is out of range", Accept: fmt.Sprintf("%d to %d", l.Least, l.Most)}
		}
	}
	return nil
}

// Choice refuses a word outside a closed set.
func Choice(field, value string, accept ...string) (int, error) {
	for i, a := range accept {
		if a == value {
			return i, nil
		}
	}
	return 0, &diag.Refusal{Field: field, Value: value, Problem: "is not known", Accept: diag.OneOf(value, accept)}
}

// Input decodes a part of a trace that was decoded and encoded again: places in that
// text mean nothing to a reader, so a refusal names the field alone.
func Input(name, field string, raw []byte, v any) error {
	err := strict.JSON(name, raw, v)
	if r, ok := errors.AsType[*diag.Refusal](err); ok {
		r.Line, r.Col = 0, 0
		if r.Field != "" {
			field += "." + r.Field
		}
		r.Field = field
	}
	return err
}
