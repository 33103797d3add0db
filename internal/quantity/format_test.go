package quantity

import (
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

func TestFormatStored(t *testing.T) {
	keep.Rule(t, "SUB-16")
	for _, c := range []struct {
		f          Format
		rows, cols int64
		want       Bytes
	}{
		{FP32, 3, 5, 60},
		{BF16, 3, 5, 30},
		{FP8, 3, 5, 15 + 4},
		{FP8Block, 128, 128, 128*128 + 4},
		{FP8Block, 129, 128, 129*128 + 8}, // the cut block keeps its scale
		{MXFP8, 2, 32, 64 + 2},
		{NVFP4, 2, 32, 32 + 4},
		{MXFP4, 2, 32, 32 + 2},
		{MXFP4, 1, 33, 17 + 2}, // 132 bits of payload and 16 of scales
		{INT4Group, 1, 32, 16 + 2},
		{"fp7", 8, 8, 0},
	} {
		if got := c.f.Stored(c.rows, c.cols); got != c.want {
			t.Errorf("%s %dx%d: got %v, want %v", c.f, c.rows, c.cols, float64(got), float64(c.want))
		}
	}
}

func TestFormatText(t *testing.T) {
	var f Format
	if err := f.UnmarshalText([]byte("nvfp4")); err != nil || f != NVFP4 {
		t.Errorf("nvfp4: got %q, %v", f, err)
	}
	if err := f.UnmarshalText([]byte("fp4")); err == nil {
		t.Error("fp4: accepted, want a refusal that lists the formats")
	}
	for _, f := range Formats() {
		if _, ok := f.Layout(); !ok {
			t.Errorf("%s: has no layout", f)
		}
	}
}
