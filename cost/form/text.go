package form

import (
	"bytes"
	"strconv"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// Row is numbers on one line, separated by spaces.
type Row []float64

// Rows is one line for each row, so that a diff shows the rows that moved.
type Rows [][]float64

func (r Row) MarshalText() ([]byte, error) {
	var b []byte
	for i, v := range r {
		if i > 0 {
			b = append(b, ' ')
		}
		format := byte('g')
		if v >= 1 && v < 1e15 {
			format = 'f' // sizes are written out
		}
		b = strconv.AppendFloat(b, v, format, -1, 64)
	}
	return b, nil
}

func (r *Row) UnmarshalText(text []byte) error {
	*r = nil
	for word := range bytes.FieldsSeq(text) {
		v, err := strconv.ParseFloat(string(word), 64)
		if err != nil || v != v || v-v != 0 {
			return &diag.Refusal{Field: "numbers", Value: string(word), Problem: "is not a finite number"}
		}
		*r = append(*r, v)
	}
	return nil
}

func (r Rows) MarshalText() ([]byte, error) {
	var b []byte
	for _, row := range r {
		line, _ := Row(row).MarshalText()
		b = append(append(b, line...), '\n')
	}
	return b, nil
}

func (r *Rows) UnmarshalText(text []byte) error {
	*r = nil
	for line := range bytes.Lines(bytes.TrimSpace(text)) {
		var row Row
		if err := row.UnmarshalText(line); err != nil {
			return err
		}
		*r = append(*r, row)
	}
	return nil
}

// flat is the rows one after the other; ok is false when they differ in length
// from width.
func (r Rows) flat(width int) (out []float64, ok bool) {
	for _, row := range r {
		if len(row) != width {
			return nil, false
		}
		out = append(out, row...)
	}
	return out, true
}
