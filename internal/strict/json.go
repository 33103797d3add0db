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
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return &diag.Refusal{File: file, Problem: "is empty", Accept: "one document"}
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return &diag.Refusal{File: file, Line: 1, Problem: "begins with a byte order mark", Accept: "UTF-8 without one"}
	}
	if err := repeated(file, data); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	if err := dec.Decode(v); err != nil {
		return jsonError(file, data, dec.InputOffset(), err)
	}
	return nil
}

var unknownField = regexp.MustCompile(`unknown field "(.*)"`)

func jsonError(file string, data []byte, off int64, err error) error {
	r := &diag.Refusal{File: file, Problem: err.Error()}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
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

// position turns a byte offset into a 1-based line and column.
func position(data []byte, off int64) (line, col int) {
	off = min(off, int64(len(data)))
	head := data[:off]
	return bytes.Count(head, []byte("\n")) + 1, len(head) - bytes.LastIndexByte(head, '\n')
}

// repeated walks the tokens: encoding/json lets the last of two equal keys win
// and ignores bytes after the document; both are refused here.
func repeated(file string, data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := value(dec); err != nil {
		r, ok := errors.AsType[*diag.Refusal](err)
		if !ok {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = errors.New("ends too early")
			}
			r = &diag.Refusal{Problem: err.Error()}
		}
		r.File = file
		r.Line, r.Col = position(data, dec.InputOffset())
		return r
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		line, col := position(data, dec.InputOffset())
		return &diag.Refusal{File: file, Line: line, Col: col, Problem: "more follows the document", Accept: "one document"}
	}
	return nil
}

func value(dec *json.Decoder) error {
	t, err := dec.Token()
	if err != nil {
		return err
	}
	switch t {
	case json.Delim('{'):
		return object(dec)
	case json.Delim('['):
		for i := 0; dec.More(); i++ {
			if err := value(dec); err != nil {
				return inItem(i, err)
			}
		}
		_, err = dec.Token()
	}
	return err
}

func object(dec *json.Decoder) error {
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string) // the decoder gives no other token for a key
		if seen[key] {
			return inKey(key, &diag.Refusal{Problem: "repeats a key", Accept: "each key once"})
		}
		seen[key] = true
		if err := value(dec); err != nil {
			return inKey(key, err)
		}
	}
	_, err := dec.Token()
	return err
}
