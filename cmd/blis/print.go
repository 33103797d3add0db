package main

import (
	"io"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
)

// printJSON writes v as a person reads it: keys sorted, two spaces a level.
func printJSON(w io.Writer, v any) error {
	b, err := canon.Indent(v)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}
