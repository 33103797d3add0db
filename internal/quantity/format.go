package quantity

import "fmt"

// Format is how the elements of a tensor are stored: payload bits, and for
// scaled formats the scale bits of one block. One type serves weights, caches and
// activations, so a byte count has one definition (SUB-16).
type Format string

const (
	FP32      Format = "fp32"
	BF16      Format = "bf16"
	FP8       Format = "fp8"        // e4m3, one FP32 scale a tensor
	FP8Block  Format = "fp8_block"  // e4m3, one FP32 scale per 128x128 block
	MXFP8     Format = "mxfp8"      // e4m3, one E8M0 scale per 32 of a row (OCP MX v1.0)
	NVFP4     Format = "nvfp4"      // e2m1, one E4M3 scale per 16 of a row
	MXFP4     Format = "mxfp4"      // e2m1, one E8M0 scale per 32 of a row (OCP MX v1.0)
	INT4Group Format = "int4_w4a16" // symmetric int4, one BF16 scale per 32 of a row
)

// Formats lists every format in order of falling payload.
func Formats() []Format {
	return []Format{FP32, BF16, FP8, FP8Block, MXFP8, NVFP4, MXFP4, INT4Group}
}

// Layout is the storage of one block of a format.
type Layout struct {
	PayloadBits int   // bits of one element
	ScaleBits   int   // bits of one block's scale; 0 when unscaled
	Rows, Cols  int64 // the block; 0x0 means the whole tensor
}

var layouts = map[Format]Layout{
	FP32:      {PayloadBits: 32},
	BF16:      {PayloadBits: 16},
	FP8:       {PayloadBits: 8, ScaleBits: 32},
	FP8Block:  {PayloadBits: 8, ScaleBits: 32, Rows: 128, Cols: 128},
	MXFP8:     {PayloadBits: 8, ScaleBits: 8, Rows: 1, Cols: 32},
	NVFP4:     {PayloadBits: 4, ScaleBits: 8, Rows: 1, Cols: 16},
	MXFP4:     {PayloadBits: 4, ScaleBits: 8, Rows: 1, Cols: 32},
	INT4Group: {PayloadBits: 4, ScaleBits: 16, Rows: 1, Cols: 32},
}

// Layout returns the format's storage; ok is false for a name not in Formats.
func (f Format) Layout() (l Layout, ok bool) {
	l, ok = layouts[f]
	return l, ok
}

// Stored is the bytes of a rows x cols tensor with its scales. A block cut off by
// the edge keeps a whole scale. An unknown format stores 0 bytes; documents
// cannot hold one (UnmarshalText).
func (f Format) Stored(rows, cols int64) Bytes {
	l := layouts[f]
	scales := int64(1)
	if l.Cols > 0 {
		scales = ceilDiv(rows, l.Rows) * ceilDiv(cols, l.Cols)
	}
	bits := rows*cols*int64(l.PayloadBits) + scales*int64(l.ScaleBits)
	return Bytes(ceilDiv(bits, 8))
}

// UnmarshalText takes one of Formats, for YAML and JSON alike.
func (f *Format) UnmarshalText(text []byte) error {
	if _, ok := layouts[Format(text)]; !ok {
		return fmt.Errorf("%q is not a storage format: one of %v", text, Formats())
	}
	*f = Format(text)
	return nil
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }
