package ledger

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
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
