package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// JSON decodes one document of file into v. Fields carry `json` tags. Numbers
// decoded into an `any` become json.Number, so no digit is lost.
func JSON(file string, data []byte, v any) error {
	if directJSON(data, v) {
		return nil
	}
	return jsonByTheBook(file, data, v)
}

// Foreign decodes one JSON document that another tool wrote: keys that v does not have
// are left alone; all else is as strict as JSON.
func Foreign(file string, data []byte, v any) error {
	if err := JSON(file, data, new(any)); err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return jsonError(file, data, 0, err)
	}
	return nil
}

// jsonByTheBook reads all of JSON, and says what is wrong with a document.
func jsonByTheBook(file string, data []byte, v any) error {
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return &diag.Refusal{File: file, Problem: "is empty", Accept: "one document"}
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return &diag.Refusal{File: file, Line: 1, Problem: "begins with a byte order mark", Accept: "UTF-8 without one"}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	if err := dec.Decode(v); err != nil {
		return jsonError(file, data, dec.InputOffset(), err)
	}
	end := dec.InputOffset()
	if rest := bytes.TrimLeft(data[end:], " \t\r\n"); len(rest) > 0 {
		line, col := position(data, int64(len(data)-len(rest)))
		return &diag.Refusal{File: file, Line: line, Col: col, Problem: "more follows the document", Accept: "one document"}
	}
	return repeated(file, data[:end])
}

var unknownField = regexp.MustCompile(`unknown field "(.*)"`)

func jsonError(file string, data []byte, off int64, err error) error {
	r := &diag.Refusal{File: file, Problem: err.Error()}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		off, r.Problem = sound(data), "ends too early"
	} else if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		off, r.Field = e.Offset, e.Field
		if n, ok := strings.CutPrefix(e.Value, "number "); ok {
			r.Value, r.Problem = n, "is of the wrong type or out of its range"
		} else if strings.ContainsAny(e.Value[:1], "ao") {
			r.Problem = "is an " + e.Value
		} else {
			r.Problem = "is a " + e.Value
		}
		r.Accept = accepted(e.Type)
	} else if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		off = e.Offset
	} else if m := unknownField.FindStringSubmatch(err.Error()); m != nil {
		r.Field, r.Problem = m[1], "unknown key"
	}
	r.Line, r.Col = position(data, off)
	return r
}

// sound is where the last whole token of data ends.
func sound(data []byte) int64 {
	dec := json.NewDecoder(bytes.NewReader(data))
	for {
		if _, err := dec.Token(); err != nil {
			return dec.InputOffset()
		}
	}
}

// position turns a byte offset into a 1-based line and column.
func position(data []byte, off int64) (line, col int) {
	off = min(off, int64(len(data)))
	head := data[:off]
	return bytes.Count(head, []byte("\n")) + 1, len(head) - bytes.LastIndexByte(head, '\n')
}
