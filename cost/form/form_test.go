package form_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

var h200 = form.Chip{Name: "h200", BF16: 989e12, FP8: 1979e12, HBM: 4.8e12, Link: 450e9, World: 8, NIC: 50e9}

func bf16() form.Operands {
	f, err := form.ParseFormat("bf16")
	if err != nil {
		panic(err)
	}
	return f.Operands()
}

// curve is a utilisation of 0.5 at m=1 and 0.8 at m=1024, for any n and k.
func curve() *form.Curve {
	return &form.Curve{LaunchUS: 2, Terms: []form.Term{{
		Axes:   []form.Axis{{Coord: "m", Knots: form.Row{1, 1024}}, {Coord: "n", Knots: form.Row{64, 4096}}},
		Values: form.Rows{{0.5, 0.5}, {0.8, 0.8}},
	}}}
}

func TestUtilisationIsInterpolatedAndHeld(t *testing.T) {
	keep.Rule(t, "VAL-10")
	layer := form.GEMM{N: 4096, K: 4096, Operands: bf16()}
	op, err := form.Compile(h200, curve(), layer)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		m, utilisation float64
		inside         bool
	}{
		{1, 0.5, true}, {32, math.Sqrt(0.5 * 0.8), true}, {1024, 0.8, true}, {65536, 0.8, false},
	} {
		s := layer
		s.M = c.m
		want := (2e-6 + op.Point(s).Ideal) / c.utilisation
		if got := op.Seconds(s); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("m=%v: got %v s, want %v", c.m, got, want)
		}
		if got := op.Inside(s); got != c.inside {
			t.Errorf("m=%v inside: got %v, want %v", c.m, got, c.inside)
		}
	}
}

func TestCompiledFormEqualsTheCurve(t *testing.T) {
	layer := form.GEMM{M: 77, N: 777, K: 7777, Operands: bf16()}
	op, err := form.Compile(h200, curve(), layer)
	if err != nil {
		t.Fatal(err)
	}
	b, err := curve().Bind(layer.Coords())
	if err != nil {
		t.Fatal(err)
	}
	p := layer.Point(&h200)
	if got, want := op.Seconds(layer), b.Seconds(&p); math.Abs(got/want-1) > 1e-14 {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFixedSizesCountAsInsideOrNot(t *testing.T) {
	for n, want := range map[float64]bool{4096: true, 64: true, 8192: false, 32: false} {
		layer := form.GEMM{M: 16, N: n, K: 4096, Operands: bf16()}
		op, err := form.Compile(h200, curve(), layer)
		if err != nil {
			t.Fatal(err)
		}
		if got := op.Inside(layer); got != want {
			t.Errorf("n=%v: got %v, want %v", n, got, want)
		}
	}
}

// Terms over the same coordinates are added up when a form is compiled.
func TestMergedTermsEqualTheirSum(t *testing.T) {
	c := curve()
	c.Terms = append(c.Terms,
		form.Term{Axes: []form.Axis{{Coord: "m", Knots: form.Row{1, 7, 300, 1024}}}, Values: form.Rows{{0.9, 1.1, 0.8, 1}}},
		form.Term{Axes: []form.Axis{{Coord: "k", Knots: form.Row{64, 4096}}, {Coord: "m", Knots: form.Row{1, 100}}}, Values: form.Rows{{0.9, 1}, {1, 0.7}}},
		form.Term{Axes: []form.Axis{{Coord: "mn", Knots: form.Row{64, 1 << 22}}}, Values: form.Rows{{0.9, 1}}})
	b, err := c.Bind(form.GEMM{}.Coords())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []float64{0.5, 1, 5, 7, 77, 100, 513, 1024, 5000} {
		layer := form.GEMM{M: m, N: 777, K: 1000, Operands: bf16()}
		op, err := form.Compile(h200, c, layer)
		if err != nil {
			t.Fatal(err)
		}
		p := layer.Point(&h200)
		if got, want := op.Seconds(layer), b.Seconds(&p); math.Abs(got/want-1) > 1e-13 {
			t.Errorf("m=%v: got %v, want %v", m, got, want)
		}
	}
}

func TestNoUtilisationAboveOne(t *testing.T) {
	keep.Rule(t, "SUB-5")
	c := &form.Curve{Terms: []form.Term{{Values: form.Rows{{3}}}}}
	layer := form.GEMM{M: 8192, N: 8192, K: 8192, Operands: bf16()}
	op, err := form.Compile(h200, c, layer)
	if err != nil {
		t.Fatal(err)
	}
	if rate := op.Point(layer).Flops / op.Seconds(layer); rate > h200.BF16 {
		t.Errorf("got %v FLOP/s, want at most the dense peak %v", rate, h200.BF16)
	}
}

func TestNoWorkCostsNothing(t *testing.T) {
	layer := form.GEMM{N: 64, K: 64, Operands: bf16()}
	op, err := form.Compile(h200, curve(), layer)
	if err != nil {
		t.Fatal(err)
	}
	layer.M, layer.N = 0, 0
	if got := op.Seconds(layer); got != 0 {
		t.Errorf("got %v s, want 0", got)
	}
}

func TestCurveRefusals(t *testing.T) {
	keep.Rule(t, "VAL-10")
	good := curve()
	if _, err := good.Bind(form.GEMM{}.Coords()); err != nil {
		t.Fatalf("closest accepted curve: %v", err)
	}
	for name, spoil := range map[string]func(*form.Curve){
		"no terms":       func(c *form.Curve) { c.Terms = nil },
		"unknown axis":   func(c *form.Curve) { c.Terms[0].Axes[0].Coord = "M" },
		"falling knots":  func(c *form.Curve) { c.Terms[0].Axes[0].Knots = form.Row{1024, 1} },
		"a short row":    func(c *form.Curve) { c.Terms[0].Values[1] = []float64{0.8} },
		"a zero":         func(c *form.Curve) { c.Terms[0].Values[1][0] = 0 },
		"a missing row":  func(c *form.Curve) { c.Terms[0].Values = c.Terms[0].Values[:1] },
		"too many axes":  func(c *form.Curve) { c.Terms[0].Axes = make([]form.Axis, 4) },
		"no knots":       func(c *form.Curve) { c.Terms[0].Axes[1].Knots = nil },
		"negative knots": func(c *form.Curve) { c.Terms[0].Axes[1].Knots = form.Row{-1, 2} },
	} {
		c := curve()
		spoil(c)
		if _, err := c.Bind(form.GEMM{}.Coords()); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestRowsReadWhatTheyWrite(t *testing.T) {
	in := form.Rows{{0.5, 1.25}, {3e-05, 7}}
	text, err := in.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	var out form.Rows
	if err := out.UnmarshalText(text); err != nil {
		t.Fatal(err)
	}
	if again, _ := out.MarshalText(); string(again) != string(text) {
		t.Errorf("got %q, want %q", again, text)
	}
	for _, bad := range []string{"nan", "1 x", "+Inf"} {
		if err := out.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q: accepted", bad)
		}
	}
}

// A row's numbers are read faster than strconv reads them, and no other way.
func TestRowReadsNumbersAsStrconvDoes(t *testing.T) {
	words := []string{"0", "1", "1.", ".5", "0.1", "00.10", "999999999999999", "0.999999999999999", "0.00000000000001", "123456.789012345",
		"1234567890123456", "0.1234567890123456", "-0", "-1.5", "1e-7", "3.5e+22", "0x1p-2"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		words = append(words, strconv.FormatFloat(r.Float64()*math.Pow(10, float64(r.IntN(12)-4)), 'f', r.IntN(17), 64))
	}
	for _, word := range words {
		var got form.Row
		want, err := strconv.ParseFloat(word, 64)
		if e := got.UnmarshalText([]byte(" " + word + "\n")); e != nil || err != nil || len(got) != 1 || math.Float64bits(got[0]) != math.Float64bits(want) {
			t.Errorf("%q: got %v, %v, want %v, %v", word, got, e, want, err)
		}
	}
}

func BenchmarkGEMM(b *testing.B) {
	layer := form.GEMM{M: 128, N: 4096, K: 4096, Operands: bf16()}
	op, err := form.Compile(h200, curve(), layer)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		layer.M = 96
		op.Seconds(layer)
	}
}

// A price does not depend on what was priced before.
func TestPricesDoNotDependOnTheLastOne(t *testing.T) {
	curve := &form.Curve{Terms: []form.Term{{Axes: []form.Axis{{Coord: "m", Knots: form.Row{1, 4, 32, 256}}}, Values: form.Rows{{0.1, 0.3, 0.6, 0.9}}}}}
	layer := form.GEMM{N: 4096, K: 4096, Operands: bf16()}
	compile := func() *form.Op[form.GEMM] {
		op, err := form.Compile(h200, curve, layer)
		if err != nil {
			t.Fatal(err)
		}
		return op
	}
	kept := compile()
	for _, m := range []float64{1, 5, 5, 300, 4, 2, 256, 31, 32, 1, 100} {
		layer.M = m
		if got, want := kept.Seconds(layer), compile().Seconds(layer); got != want {
			t.Errorf("m = %v: got %v, want %v", m, got, want)
		}
	}
}
