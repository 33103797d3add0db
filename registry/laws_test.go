package registry_test

import (
	"testing"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

func embedded(t *testing.T) (*registry.Registry, *catalog.Catalog) {
	t.Helper()
	r, err := registry.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return r, c
}

// VAL-2, SUB-7: whatever kernel, format and chip, some rank has a value.
func TestEveryPrimitiveHasAValueOnEveryChip(t *testing.T) {
	keep.Rule(t, "SUB-7", "SUB-8", "T-B3", "T-C1", "VAL-2")
	r, c := embedded(t)
	for _, chip := range c.Chips() {
		for _, p := range plan.Primitives() {
			res, err := r.Lookup(registry.Key{Primitive: p, Kernel: "no/such", Format: "fp8", Chip: chip})
			if err != nil || res.Curve == nil {
				t.Errorf("%s on %s: %v", p, chip, err)
			}
		}
	}
}

// bound is an entry's curve with the coordinates of its primitive.
func bound(t *testing.T, e form.Shape, c *form.Curve) form.Bound {
	t.Helper()
	b, err := c.Bind(e.Coords())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// shapes of one primitive, each twice the work of the one before.
func doubling(p plan.Primitive, f form.Operands) []form.Shape {
	heads := form.Heads{Query: 8, KV: 1, Dim: 128, Operands: f}
	latent := form.Latent{Heads: 16, QueryRank: 1536, CacheRank: 512, Nope: 128, Rope: 64, Value: 128, Cache: f, Weights: f}
	var out []form.Shape
	for n := 1.0; n <= 8192; n *= 2 {
		switch p {
		case plan.GEMM:
			out = append(out, form.GEMM{M: n, N: 4096, K: 4096, Operands: f})
		case plan.GroupedGEMM:
			out = append(out, form.MoE{Tokens: n, Hidden: 4096, Inter: 1536, TopK: 8, Experts: 128, TP: 1, EP: 1, Skew: 1.2, Operands: f})
		case plan.AttentionDecode:
			out = append(out, form.Decode{Seqs: min(n, 512), Context: 16 * n, Heads: heads})
		case plan.AttentionExtend:
			out = append(out, form.Prefill{Seqs: 1, Tokens: n, Length: n, Heads: heads})
		case plan.MLADecode:
			out = append(out, form.LatentDecode{Seqs: min(n, 512), Context: 16 * n, Latent: latent})
		case plan.MLAExtend:
			out = append(out, form.LatentPrefill{Seqs: 1, Tokens: n, Length: n, Latent: latent})
		case plan.AllReduce, plan.AllGather, plan.ReduceScatter, plan.AllToAll:
			out = append(out, form.Collective{Bytes: 1024 * n, Ranks: 8, Pattern: pattern[p]})
		}
	}
	return out
}

var pattern = map[plan.Primitive]form.Pattern{plan.AllReduce: form.AllReduce, plan.AllGather: form.AllGather,
	plan.ReduceScatter: form.ReduceScatter, plan.AllToAll: form.AllToAll}

// each calls f for every entry of the embedded registry that has a curve.
func each(t *testing.T, f func(e *registry.Entry, chip form.Chip, curve *form.Curve, on form.Operands)) {
	r, c := embedded(t)
	entries, err := r.Entries()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		if e.Value != nil {
			continue
		}
		res, err := r.Lookup(e.Key)
		if err != nil {
			t.Fatal(err)
		}
		if res.Entry != e {
			continue // displaced: no price reads it
		}
		data, err := c.Chip(e.Chip)
		if err != nil {
			t.Fatal(err)
		}
		chip := form.Chip{Name: e.Chip, HBM: float64(data.Bandwidth()), BF16: data.BF16.Base(), Link: 450e9, World: 8, NIC: 50e9}
		if data.FP8 != nil {
			chip.FP8 = data.FP8.Base()
		}
		if data.FP4 != nil {
			chip.FP4 = data.FP4.Base()
		}
		format, err := form.ParseFormat("bf16")
		if e.Format != "" {
			format, err = form.ParseFormat(e.Format)
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
		f(e, chip, res.Curve, format.Operands())
	}
	if n < 100 {
		t.Errorf("only %d entries have a curve", n)
	}
}

// SUB-5: no compute rate above the dense peak, no bandwidth above HBM's or the
// links'. SUB-10: no price that is zero or not finite.
func TestNoRateAboveThePeaks(t *testing.T) {
	keep.Rule(t, "SUB-5")
	each(t, func(e *registry.Entry, chip form.Chip, curve *form.Curve, on form.Operands) {
		for _, s := range doubling(e.Primitive, on) {
			b := bound(t, s, curve)
			p := s.Point(&chip)
			sec := b.Seconds(&p)
			switch {
			case !(sec > 0) || sec > 1e4:
				t.Errorf("%s at %+v: %v s", e.Key, s, sec)
			case p.Flops/sec > chip.Peak(on.On)*(1+1e-9) || p.Bytes/sec > chip.HBM*(1+1e-9) || p.Link/sec > chip.Link*(1+1e-9):
				t.Errorf("%s at %+v: %v FLOP/s, %v B/s, %v B/s over links", e.Key, s, p.Flops/sec, p.Bytes/sec, p.Link/sec)
			}
		}
	})
}

// Four times the ideal time takes no less time. Nearer than that the tables
// themselves waver: a kernel with better tiles does more work in less (H200 block
// FP8 at one row and at eight), and below three launches nothing but the launch is
// measured.
func TestMoreWorkTakesMoreTime(t *testing.T) {
	keep.Rule(t, "SUB-5")
	const step, cliff, waver, same = 4, 0.7, 0.6, 0.97
	each(t, func(e *registry.Entry, chip form.Chip, curve *form.Curve, on form.Operands) {
		var was []struct{ ideal, seconds float64 }
		for _, s := range doubling(e.Primitive, on) {
			b := bound(t, s, curve)
			p := s.Point(&chip)
			sec := b.Seconds(&p)
			least := same
			if sec < 3e-6*curve.LaunchUS {
				least = waver
			}
			for _, w := range was {
				if p.Ideal >= step*w.ideal && sec < least*w.seconds || sec < cliff*w.seconds && sec > 3e-6*curve.LaunchUS {
					t.Errorf("%s at %+v: %v s after %v s for less work", e.Key, s, sec, w.seconds)
				}
			}
			was = append(was, struct{ ideal, seconds float64 }{p.Ideal, sec})
		}
	})
}

// SUB-5: at fixed bytes a collective is never faster in a larger group, but where
// the library changes its algorithm: a multicast reduction needs the whole domain.
func TestMoreRanksAreNotFaster(t *testing.T) {
	keep.Rule(t, "SUB-5")
	const algorithm = 0.8
	each(t, func(e *registry.Entry, chip form.Chip, curve *form.Curve, _ form.Operands) {
		p, ok := pattern[e.Primitive]
		if !ok || e.Boundary != registry.Device { // a host's launch time has its own mind
			return
		}
		b := bound(t, form.Collective{}, curve)
		for bytes := 1024.0; bytes < 1<<30; bytes *= 4 {
			was := 0.0
			for _, ranks := range []float64{2, 4, 8, 16, 64} {
				pt := form.Collective{Bytes: bytes, Ranks: ranks, Pattern: p}.Point(&chip)
				sec := b.Seconds(&pt)
				if sec < algorithm*was {
					t.Errorf("%s: %v bytes over %v ranks: %v s, over fewer %v s", e.Key, bytes, ranks, sec, was)
				}
				was = sec
			}
		}
	})
}

// A compiled form of each primitive, with its embedded curve.
func BenchmarkSeconds(b *testing.B) {
	r, err := registry.Embedded()
	if err != nil {
		b.Fatal(err)
	}
	f, err := form.ParseFormat("bf16")
	if err != nil {
		b.Fatal(err)
	}
	chip := form.Chip{BF16: 989e12, FP8: 1979e12, HBM: 4.8e12, Link: 450e9}
	curve := func(p plan.Primitive) *form.Curve {
		res, err := r.Lookup(registry.Key{Primitive: p, Format: "bf16", Chip: "h200_sxm"})
		if err != nil {
			b.Fatal(err)
		}
		return res.Curve
	}
	heads := form.Heads{Query: 32, KV: 8, Dim: 128, Operands: f.Operands()}
	time(b, "gemm", chip, curve(plan.GEMM), form.GEMM{M: 96, N: 4096, K: 4096, Operands: f.Operands()})
	time(b, "decode", chip, curve(plan.AttentionDecode), form.Decode{Seqs: 24, Context: 3000, Heads: heads})
	time(b, "prefill", chip, curve(plan.AttentionExtend), form.Prefill{Seqs: 1, Tokens: 700, Length: 3000, Heads: heads})
	time(b, "moe", chip, curve(plan.GroupedGEMM), form.MoE{Tokens: 96, Hidden: 4096, Inter: 1536, TopK: 8, Experts: 128, TP: 1, EP: 1, Skew: 1.2, Operands: f.Operands()})
	time(b, "all_reduce", chip, curve(plan.AllReduce), form.Collective{Bytes: 1 << 20, Ranks: 8})
}

func time[S form.Shape](b *testing.B, name string, chip form.Chip, c *form.Curve, s S) {
	op, err := form.Compile(chip, c, s)
	if err != nil {
		b.Fatal(err)
	}
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			op.Seconds(s)
		}
	})
}
