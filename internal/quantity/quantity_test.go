package quantity

import (
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

func TestUnits(t *testing.T) {
	keep.Rule(t, "SUB-16")
	for _, c := range []struct{ got, want string }{
		{Bytes(80 << 30).String(), "80 GiB"},
		{Bytes(12).String(), "12 B"},
		{Seconds(0.00125).String(), "1.25 ms"},
		{Seconds(12).String(), "12 s"},
		{Flops(2e12).Over(1e15).String(), "2 ms"},
		{Bytes(8e9).Over(8e12).String(), "1 ms"},
		{GroupBytes(64).OnRank(8).String(), "8 B"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
