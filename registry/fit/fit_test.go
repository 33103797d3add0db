package fit

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

func facts(t *testing.T) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func fixture(t *testing.T) *Result {
	t.Helper()
	res, err := Run(facts(t), os.DirFS("testdata/tables"))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// gemmTable writes a table whose times come from seconds, over a small grid.
func gemmTable(format, kernel string, us func(m, n, k float64) float64) []byte {
	var b bytes.Buffer
	b.WriteString("framework,version,device,op_name,kernel_source,gemm_dtype,m,n,k,latency\n")
	for _, m := range append(octaves(1, 8192, 2), 17, 33, 65, 129, 257, 513) {
		for _, n := range octaves(64, 16384, 2) {
			for _, k := range octaves(64, 16384, 2) {
				fmt.Fprintf(&b, "VLLM,1,X,gemm,%s,%s,%g,%g,%g,%g\n", kernel, format, m, n, k, us(m, n, k)*1e-3)
			}
		}
	}
	return b.Bytes()
}

func tablesOf(nameData ...any) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(nameData); i += 2 {
		m[nameData[i].(string)] = &fstest.MapFile{Data: nameData[i+1].([]byte)}
	}
	return m
}

const h100GEMM = "h100_sxm/gemm/vllm/1.0/gemm_perf.csv"

// ideal is the roofline of a BF16 product on an H100, in microseconds.
func ideal(m, n, k float64) float64 {
	return 1e6 * math.Max(2*m*n*k/989e12, 2*(m*k+n*k+m*n)/3.35e12)
}

func TestAKnownUtilisationIsRecovered(t *testing.T) {
	us := func(m, n, k float64) float64 { return (3 + ideal(m, n, k)) / (0.4 + 0.05*math.Log2(m*n)/4) }
	res, err := Run(facts(t), tablesOf(h100GEMM, gemmTable("bfloat16", "mm", us)))
	if err != nil {
		t.Fatal(err)
	}
	f := res.Fits[0]
	if f.Held.N < 200 || f.Held.Median > 0.01 || f.Held.P95 > 0.04 {
		t.Errorf("held-out error: got %+v, want under 1%% and 4%% on 200 shapes and more", f.Held)
	}
	if values := size(f.Entry.Curve.Terms[0].Axes); values*2 > f.source.Rows {
		t.Errorf("%d values for %d rows: not compact", values, f.source.Rows)
	}
}

func TestSpikesDoNotMoveTheFit(t *testing.T) {
	clean := func(m, n, k float64) float64 { return (3 + ideal(m, n, k)) / 0.6 }
	n := 0
	spiky := func(m, nn, k float64) float64 {
		if n++; n%40 == 0 {
			return 3 * clean(m, nn, k)
		}
		return clean(m, nn, k)
	}
	res, err := Run(facts(t), tablesOf(h100GEMM, gemmTable("bfloat16", "mm", spiky)))
	if err != nil {
		t.Fatal(err)
	}
	if got := math.Abs(res.Fits[0].Held.Bias); got > 0.01 {
		t.Errorf("bias with a spike in forty rows: got %.3f, want under 0.01", got)
	}
	if got := res.Fits[0].Held.P95; got > 0.05 {
		t.Errorf("p95: got %.3f, want under 0.05 (the spikes are 2.5%% of the rows)", got)
	}
}

func TestAHostFloorIsKeptOutOfDeviceTime(t *testing.T) {
	fast := func(m, n, k float64) float64 { return (6 + ideal(m, n, k)/2) / 0.6 }
	eager := func(m, n, k float64) float64 { return math.Max(60, fast(m, n, k)) }
	table := append(gemmTable("fp8", "pt", fast), bytes.SplitN(gemmTable("fp8_block", "blk", eager), []byte("\n"), 2)[1]...)
	res, err := Run(facts(t), tablesOf(h100GEMM, table))
	if err != nil {
		t.Fatal(err)
	}
	found := map[registry.Boundary]*Fitted{}
	for _, f := range res.Fits {
		if f.key.Format == "fp8_block" {
			found[f.key.Boundary] = f
		}
	}
	host, device := found[registry.Host], found[registry.Device]
	if host == nil || device == nil {
		t.Fatalf("got boundaries %v, want host and device", found)
	}
	if host.Entry.Method != "measured" || device.Entry.Method != "transferred" {
		t.Errorf("got host %s and device %s, want measured and transferred", host.Entry.Method, device.Entry.Method)
	}
	chip := form.Chip{BF16: 989e12, FP8: 1979e12, HBM: 3.35e12}
	f, _ := form.ParseFormat("fp8_block")
	small := form.GEMM{M: 8, N: 1024, K: 1024, Operands: f.Operands()}
	op, err := form.Compile(chip, device.Entry.Curve, small)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := op.Seconds(small)*1e6, fast(8, 1024, 1024)+3; math.Abs(got/want-1) > 0.1 {
		t.Errorf("device time of a small product: got %.1f us, want about %.1f", got, want)
	}
}

func TestMessagesCountElementsOfTwoBytes(t *testing.T) {
	for _, f := range fixture(t).Fits {
		for _, s := range f.samples {
			if rate := s.point.Link / s.seconds; rate > 900e9 {
				t.Fatalf("%s: %s: %v B/s, above any link here", f.key, s.shape, rate)
			}
		}
		if f.key.Chip != "h200_sxm" || f.key.Boundary != registry.Device {
			continue
		}
		best := 0.0
		for _, s := range f.samples {
			best = max(best, s.point.Link/s.seconds)
		}
		if best < 400e9 {
			t.Errorf("H200 reaches %.0f GB/s: read as bytes, want near the links' 450", best/1e9)
		}
	}
}

func TestShapesMeasuredTwiceStandOnOneSide(t *testing.T) {
	in := []sample{{shape: "1 2", seconds: 3, part: held}, {shape: "1 2", seconds: 1, part: held}, {shape: "1 2", seconds: 2, part: held}, {shape: "0 2", seconds: 5}}
	out := unique(in)
	if len(out) != 2 || out[1].seconds != 2 || out[1].part != held {
		t.Errorf("got %+v, want two shapes, the second at its median, held", out)
	}
}

func TestWritersReproduceTheCommittedEntries(t *testing.T) {
	keep.Rule(t, "SUB-4", "SUB-8")
	r, err := registry.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	res := fixture(t)
	if len(res.Fits) != 6 {
		t.Fatalf("got %d fits, want 6: three chips, eager and captured", len(res.Fits))
	}
	for _, f := range res.Fits {
		got, err := r.Lookup(f.key)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := encode(registry.Set{Entries: []*registry.Entry{got.Entry}})
		f.Entry.Source = got.Entry.Source // the fixture is not compressed: another hash
		b, _ := encode(registry.Set{Entries: []*registry.Entry{f.Entry}})
		if !bytes.Equal(a, b) {
			t.Errorf("%s: committed\n%s\nwritten\n%s", f.key, a, b)
		}
	}
}

func TestCheckNamesEveryDifference(t *testing.T) {
	cat := facts(t)
	files, err := fixture(t).Files(cat)
	if err != nil {
		t.Fatal(err)
	}
	dir := fstest.MapFS{}
	again, err := fixture(t).Files(cat)
	if err != nil {
		t.Fatal(err)
	}
	for p, b := range again {
		dir[p] = &fstest.MapFile{Data: b}
	}
	if got, err := files.Check(dir); err != nil || len(got) > 0 {
		t.Fatalf("its own files: got %v, %v", got, err)
	}
	if _, err := registry.Open(dir); err != nil {
		t.Fatalf("what the writers write does not load: %v", err)
	}
	dir["h100_sxm/collective.yaml"] = &fstest.MapFile{Data: append([]byte("# x\n"), files["h100_sxm/collective.yaml"]...)}
	dir["h100_sxm/gemm.yaml"] = &fstest.MapFile{Data: []byte("x")}
	dir["h100_sxm/overhead.yaml"] = &fstest.MapFile{Data: []byte("another writer's")}
	delete(dir, "l40s/host.yaml")
	got, err := files.Check(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := "h100_sxm/gemm.yaml: no table gives rise to it|h100_sxm/collective.yaml:1: differs from what the writers write|l40s/host.yaml: is missing"
	if strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDonorsAreNearestFirst(t *testing.T) {
	cat, res := facts(t), fixture(t)
	for chip, want := range map[string]string{"h100_sxm": "h200_sxm", "b300_sxm": "b200_sxm", "gb300_nvl72": "b200_sxm", "l40s": "h100_sxm"} {
		got, err := res.donors(cat, chip)
		if err != nil {
			t.Fatal(err)
		}
		if got[0] != want {
			t.Errorf("%s: got %v, want %s first", chip, got, want)
		}
	}
}

func TestReportLeavesEachChipOut(t *testing.T) {
	keep.Rule(t, "VAL-5")
	cat := facts(t)
	rep, err := fixture(t).Report(cat)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range rep.LeftOut {
		got = append(got, l.Chip+" from "+l.Donor+" by "+l.Method)
	}
	want := "b200_sxm from h100_sxm by same kernel|h100_sxm from h200_sxm by same kernel|h200_sxm from h100_sxm by same kernel"
	if strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if p := rep.Families[0]; p.Primitive != plan.AllReduce || p.Held.N != 102 || p.Held.Median > 0.06 {
		t.Errorf("got %+v, want 102 held-out all-reduces under 6%%", p)
	}
}

func TestTableRefusals(t *testing.T) {
	head := "kernel_source,gemm_dtype,m,n,k,latency\n"
	if _, err := Run(facts(t), tablesOf(h100GEMM, []byte(head+"mm,bfloat16,1,64,64,0.1\n"))); err != nil {
		t.Fatalf("closest accepted: %v", err)
	}
	for name, c := range map[string]struct{ file, data, field string }{
		"unknown format": {h100GEMM, head + "mm,bf17,1,64,64,0.1\n", "gemm_dtype"},
		"no number":      {h100GEMM, head + "mm,bfloat16,one,64,64,0.1\n", "m"},
		"no column":      {h100GEMM, "kernel_source,gemm_dtype,m,n,latency\nmm,bfloat16,1,64,0.1\n", "k"},
		"misplaced":      {"gemm_perf.csv", head, ""},
		"empty":          {"h100_sxm/x/y/1/other_perf.csv", head, "tables"},
	} {
		_, err := Run(facts(t), tablesOf(c.file, []byte(c.data)))
		if r, ok := errors.AsType[*diag.Refusal](err); !ok || r.Field != c.field {
			t.Errorf("%s: got %v, want a refusal of %q", name, err, c.field)
		}
	}
}

func TestFallingTimesArePooled(t *testing.T) {
	for _, c := range []struct{ in, want []float64 }{
		{[]float64{1, 2, 3}, []float64{1, 2, 3}},
		{[]float64{1, 4, 2, 5}, []float64{1, 3, 3, 5}},
		{[]float64{6, 4, 2}, []float64{4, 4, 4}},
	} {
		if got := increasing(c.in); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%v: got %v, want %v", c.in, got, c.want)
		}
	}
}

func TestALargerMessageNeverTakesLessTime(t *testing.T) {
	for _, f := range fixture(t).Fits {
		b, err := f.Entry.Curve.Bind(form.Collective{}.Coords())
		if err != nil {
			t.Fatal(err)
		}
		chip := form.Chip{Link: 450e9}
		was := 0.0
		for _, k := range f.Entry.Curve.Terms[0].Axes[1].Knots {
			p := form.Collective{Bytes: k, Ranks: 8}.Point(&chip)
			sec := b.Seconds(&p)
			if sec < 0.95*was {
				t.Errorf("%s: %v bytes take %v s, fewer took %v", f.key, k, sec, was)
			}
			was = sec
		}
	}
}
