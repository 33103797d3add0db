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

func (r *Row) UnmarshalText(text []byte) (err error) {
	*r, err = appendNumbers(make(Row, 0, words(text)), text)
	return err
}

// words is how many words text has at most.
func words(text []byte) int {
	return bytes.Count(text, []byte(" ")) + bytes.Count(text, []byte("\n")) + 1
}

func appendNumbers(to []float64, text []byte) ([]float64, error) {
	for at := 0; at < len(text); {
		if isSpace(text[at]) {
			at++
			continue
		}
		end := at + 1
		for end < len(text) && !isSpace(text[end]) {
			end++
		}
		v, err := number(text[at:end])
		if err != nil {
			return nil, err
		}
		to = append(to, v)
		at = end
	}
	return to, nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// number reads one word. Most are a few digits around a point: an integer below 2^53 over a power
// of ten up to 10^22, both exact, so that one division rounds as it must.
func number(word []byte) (float64, error) {
	mantissa, point, digits := 0, -1, 0
	for i, c := range word {
		switch {
		case c == '.' && point < 0:
			point = i
		case c >= '0' && c <= '9' && digits < 15:
			mantissa, digits = 10*mantissa+int(c-'0'), digits+1
		default:
			return anyNumber(string(word))
		}
	}
	switch {
	case digits == 0:
		return anyNumber(string(word))
	case point < 0:
		return float64(mantissa), nil
	}
	return float64(mantissa) / tens[len(word)-1-point], nil
}

// tens are the powers of ten that number divides by.
var tens = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

func anyNumber(word string) (float64, error) {
	v, err := strconv.ParseFloat(word, 64)
	if err != nil || v != v || v-v != 0 {
		return 0, &diag.Refusal{Field: "numbers", Value: word, Problem: "is not a finite number"}
	}
	return v, nil
}

func (r Rows) MarshalText() ([]byte, error) {
	var b []byte
	for _, row := range r {
		line, _ := Row(row).MarshalText()
		b = append(append(b, line...), '\n')
	}
	return b, nil
}

func (r *Rows) UnmarshalText(text []byte) (err error) {
	text = bytes.TrimSpace(text)
	*r = make(Rows, 0, bytes.Count(text, []byte("\n"))+1)
	all := make([]float64, 0, words(text)) // the rows lie one after the other
	for line := range bytes.Lines(text) {
		start := len(all)
		if all, err = appendNumbers(all, line); err != nil {
			return err
		}
		*r = append(*r, all[start:len(all):len(all)])
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
