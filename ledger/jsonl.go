package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

// eachLine calls f with every line of data, numbered from 1. A last line that
// is not ended is a truncated file and refused.
func eachLine(file string, data []byte, f func(n int, line []byte) error) error {
	for n := 1; len(data) > 0; n++ {
		line, rest, ended := bytes.Cut(data, []byte("\n"))
		if !ended {
			return &diag.Refusal{File: file, Line: n, Problem: "the last line is not ended: the file is truncated", Accept: "one JSON object a line, each ended by a newline"}
		}
		if err := f(n, line); err != nil {
			return onLine(file, n, err)
		}
		data = rest
	}
	return nil
}

// onLine places err on line n of file.
func onLine(file string, n int, err error) error {
	if r, ok := errors.AsType[*diag.Refusal](err); ok {
		r.File, r.Line = file, n
		return err
	}
	return fmt.Errorf("%s:%d: %w", file, n, err)
}

// openLines appends the canonical lines of an optional file to out; check sees each
// beside those before it.
func openLines[T any](fsys fs.FS, name string, out *[]T, check func(v T, before []T) error) error {
	data, err := fs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &diag.Refusal{File: name, Problem: "cannot be read: " + err.Error()}
	}
	err = eachLine(name, data, func(_ int, line []byte) error {
		var v T
		if err := strict.JSON("", line, &v); err != nil {
			return err
		}
		if err := check(v, *out); err != nil {
			return err
		}
		*out = append(*out, v)
		return nil
	})
	if err != nil {
		return err
	}
	again, err := encodeLines(*out)
	if err == nil && !bytes.Equal(again, data) {
		err = &diag.Refusal{File: name, Problem: "is not in canonical form", Accept: "a file written by ledger ingest: every key, sorted, no spaces", Rule: "D4"}
	}
	return err
}

// encodeLines is one canonical line a value.
func encodeLines[T any](list []T) ([]byte, error) {
	var b bytes.Buffer
	for i := range list {
		line, err := canon.JSON(list[i])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

// canonical refuses data that is not v as this package writes it.
func canonical(file string, data []byte, v any) error {
	again, err := canon.Indent(v)
	if err == nil && !bytes.Equal(again, data) {
		err = &diag.Refusal{File: file, Problem: "is not in canonical form", Accept: "a file written by ledger ingest"}
	}
	return err
}
