package form

import (
	"fmt"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// Format is how a kernel's operands are held: what is stored (weights, cache) and
// what meets it (activations, queries); a module of latent attention also has
// projection weights. It is written "stored" when both are the same, else
// "stored/met", with "/projections" behind where there are any: "fp8",
// "mxfp4/bf16", "fp8/bf16/nvfp4".
type Format struct{ Stored, Act, Projections quantity.Format }

// ParseFormat is the inverse of String.
func ParseFormat(s string) (Format, error) {
	parts := strings.Split(s, "/")
	f := Format{Stored: quantity.Format(parts[0]), Act: quantity.Format(parts[0])}
	for i, p := range parts {
		q := quantity.Format(p)
		if _, ok := q.Layout(); !ok || i > 2 {
			return f, &diag.Refusal{Field: "format", Value: s, Problem: fmt.Sprintf("%q is no storage format", p),
				Accept: fmt.Sprintf("one to three of %v, as stored/met/projections", quantity.Formats()), Rule: "SUB-16"}
		}
		switch i {
		case 1:
			f.Act = q
		case 2:
			f.Projections = q
		}
	}
	return f, nil
}

func (f Format) String() string {
	switch {
	case f.Projections != "":
		return string(f.Stored) + "/" + string(f.Act) + "/" + string(f.Projections)
	case f.Stored == f.Act:
		return string(f.Stored)
	}
	return string(f.Stored) + "/" + string(f.Act)
}

// Compute is the arithmetic the operands are multiplied in: the activations'.
func (f Format) Compute() Compute {
	switch f.Act {
	case quantity.FP8, quantity.FP8Block, quantity.MXFP8:
		return FP8
	case quantity.NVFP4, quantity.MXFP4:
		return FP4
	}
	return BF16
}

// element is the bytes of one element of a large tensor, scales included.
func element(q quantity.Format) float64 {
	l, _ := q.Layout()
	bits := float64(l.PayloadBits)
	if l.Cols > 0 {
		bits += float64(l.ScaleBits) / float64(l.Rows*l.Cols)
	}
	return bits / 8
}

// Operands is a Format as a form reads it: bytes an element and the unit.
type Operands struct {
	Stored, Act float64 // bytes per element, scales included
	On          Compute
}

// Operands resolves the format's numbers once, when a layer is lowered.
func (f Format) Operands() Operands {
	return Operands{element(f.Stored), element(f.Act), f.Compute()}
}
