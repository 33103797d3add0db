package record

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// MinPoints is the fewest points a figure may be published over (COV-11); below it
// a figure says "too few points".
const MinPoints = 5

// Figure is a published number. It cannot be built without the count and scope it
// rests on and an interval, or the reason it has none, and it cannot be read as a
// number when it covers fewer than MinPoints points.
type Figure struct{ f figure }

// FigureFields is the type whose fields are a Figure's JSON form, for its schema.
var FigureFields = reflect.TypeFor[figure]()

type figure struct {
	Value    *float64    `json:"value" jsonschema:"nullable"` // null: too few points
	Unit     string      `json:"unit"`
	Points   int         `json:"points"`
	Scope    string      `json:"scope"`
	Interval *[2]float64 `json:"interval,omitempty"`
	Covers   string      `json:"interval_covers"` // what the interval covers, or why there is none
}

// NewFigure builds a figure with a 95% interval; covers says of what.
func NewFigure(value float64, unit string, points int, scope string, low, high float64, covers string) Figure {
	f := figure{Unit: unit, Points: points, Scope: scope, Covers: covers}
	if points >= MinPoints {
		f.Value, f.Interval = &value, &[2]float64{low, high}
	}
	return Figure{f}
}

// NewBareFigure builds a figure that has no interval, for the reason given.
func NewBareFigure(value float64, unit string, points int, scope, why string) Figure {
	f := figure{Unit: unit, Points: points, Scope: scope, Covers: why}
	if points >= MinPoints {
		f.Value = &value
	}
	return Figure{f}
}

// Value is the number; ok is false when the figure covers too few points.
func (f Figure) Value() (v float64, ok bool) {
	if f.f.Value == nil {
		return 0, false
	}
	return *f.f.Value, true
}

// Interval is the 95% interval; ok is false when there is none.
func (f Figure) Interval() (low, high float64, ok bool) {
	if f.f.Interval == nil {
		return 0, 0, false
	}
	return f.f.Interval[0], f.f.Interval[1], true
}

// Points, Scope, Unit and Covers are what the figure rests on.
func (f Figure) Points() int    { return f.f.Points }
func (f Figure) Scope() string  { return f.f.Scope }
func (f Figure) Unit() string   { return f.f.Unit }
func (f Figure) Covers() string { return f.f.Covers }

// String writes "6.9% [6.1, 7.8], 412 points" or "too few points (3)".
func (f Figure) String() string {
	v, ok := f.Value()
	if !ok {
		return fmt.Sprintf("too few points (%d)", f.f.Points)
	}
	unit := f.f.Unit
	if unit == "ratio" {
		v, unit = v*100, "%"
	}
	s := fmt.Sprintf("%.1f%s", v, unit)
	if low, high, ok := f.Interval(); ok {
		if f.f.Unit == "ratio" {
			low, high = low*100, high*100
		}
		s += fmt.Sprintf(" [%.1f, %.1f]", low, high)
	}
	return s + fmt.Sprintf(", %d points", f.f.Points)
}

// MarshalJSON writes every part; UnmarshalJSON refuses a figure without its scope
// or what its interval covers, and a number over too few points.
func (f Figure) MarshalJSON() ([]byte, error) { return json.Marshal(f.f) }

// UnmarshalJSON is the inverse of MarshalJSON.
func (f *Figure) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, &f.f); err != nil {
		return err
	}
	switch {
	case f.f.Scope == "":
		return &diag.Refusal{Field: "scope", Problem: "is missing", Rule: "COV-11"}
	case f.f.Covers == "":
		return &diag.Refusal{Field: "interval_covers", Problem: "is missing", Rule: "DEV-11"}
	case f.f.Value != nil && f.f.Points < MinPoints:
		return &diag.Refusal{Field: "value", Value: fmt.Sprint(*f.f.Value), Problem: fmt.Sprintf("covers %d points", f.f.Points),
			Accept: fmt.Sprintf("null below %d points", MinPoints), Rule: "COV-11"}
	}
	return nil
}
