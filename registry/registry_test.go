package registry_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

const entry = `
  - primitive: gemm
    kernel: lib/mm
    version: "1.0"
    format: bf16
    chip: h100_sxm
    boundary: device
    method: measured
    source: {table: t, sha256: s, rows: 9}
    interval: [0.98, 1.02]
    unit: s
    curve:
      launch_us: 2
      terms:
        - axes: [{axis: m, knots: 1 64}]
          values: |
            0.25 0.5
`

// set is one file with the entries given.
func set(entries ...string) string {
	return "schema: blis.registry/v1\nset: gemm\nentries:" + strings.Join(entries, "")
}

// with edits an entry.
func with(entry string, oldNew ...string) string {
	return strings.NewReplacer(oldNew...).Replace(entry)
}

func files(nameData ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(nameData); i += 2 {
		m[nameData[i]] = &fstest.MapFile{Data: []byte(nameData[i+1])}
	}
	return m
}

func open(t *testing.T, nameData ...string) *registry.Registry {
	t.Helper()
	r, err := registry.Open(files(nameData...))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var (
	key         = registry.Key{Primitive: plan.GEMM, Kernel: "lib/mm", Format: "bf16", Chip: "h100_sxm", Boundary: registry.Device}
	roofline    = with(entry, "    kernel: lib/mm\n    version: \"1.0\"\n    format: bf16\n", "", "measured", "roofline\n    rule: peak times 0.5", "    source: {table: t, sha256: s, rows: 9}\n    interval: [0.98, 1.02]\n", "")
	anyKernel   = with(entry, "    kernel: lib/mm\n    version: \"1.0\"\n", "", "measured", "transferred\n    rule: stands for the format", "    source: {table: t, sha256: s, rows: 9}\n    interval: [0.98, 1.02]\n", "")
	otherFormat = with(entry, "bf16", "fp8")
	newVersion  = with(entry, `"1.0"`, `"1.10"`)
	midVersion  = with(entry, `"1.0"`, `"1.9"`)
)

func TestLookupTakesTheMostTrustedThenTheMostSpecific(t *testing.T) {
	keep.Rule(t, "VAL-4")
	for _, c := range []struct {
		name    string
		entries []string
		key     registry.Key
		method  string
		version string
		behind  int
	}{
		{"measured before transferred and roofline", []string{roofline, anyKernel, entry}, key, "measured", "1.0", 2},
		{"another kernel is never taken for this one", []string{roofline, anyKernel, entry}, withKernel(key, "lib/other"), "transferred", "", 1},
		{"a format no entry states", []string{roofline, anyKernel, entry}, withFormat(key, "fp8"), "roofline", "", 0},
		{"the newest version by number", []string{entry, newVersion, midVersion}, key, "measured", "1.10", 2},
		{"the version asked for", []string{entry, newVersion}, withVersion(key, "1.0"), "measured", "1.0", 0},
	} {
		for range 2 { // both load orders
			slices.Reverse(c.entries)
			res, err := open(t, "h100_sxm/gemm.yaml", set(c.entries...)).Lookup(c.key)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if got, want := res.Entry.Method+res.Entry.Version, c.method+c.version; got != want {
				t.Errorf("%s: got %s, want %s", c.name, got, want)
			}
			if got, want := len(res.Displaced), c.behind; got != want {
				t.Errorf("%s: displaced %d entries, want %d", c.name, got, want)
			}
		}
	}
}

func withKernel(k registry.Key, v string) registry.Key  { k.Kernel = v; return k }
func withFormat(k registry.Key, v string) registry.Key  { k.Format = v; return k }
func withVersion(k registry.Key, v string) registry.Key { k.Version = v; return k }

func TestWindowedEntriesServeWindowsOnly(t *testing.T) {
	windowed := with(entry, "    chip:", "    windowed: true\n    chip:")
	r := open(t, "h100_sxm/gemm.yaml", set(entry, windowed))
	k := key
	for _, want := range []bool{false, true} {
		k.Windowed = want
		res, err := r.Lookup(k)
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Entry.Windowed; got != want {
			t.Errorf("windowed %v: got %v", want, got)
		}
	}
}

func TestNoMatchIsRefused(t *testing.T) {
	_, err := open(t, "h100_sxm/gemm.yaml", set(entry)).Lookup(withFormat(key, "nvfp4"))
	if r, ok := errors.AsType[*diag.Refusal](err); !ok || r.Rule != "VAL-2" {
		t.Errorf("got %v, want a refusal under VAL-2", err)
	}
}

func TestEffectiveMethod(t *testing.T) {
	keep.Rule(t, "VAL-3", "VAL-10")
	wide := with(entry, "[0.98, 1.02]", "[0.6, 1.2]", "    unit:", "    unidentified: true\n    unit:")
	for _, c := range []struct {
		entry  string
		inside bool
		want   plan.Method
		flags  int
	}{
		{entry, true, plan.Measured, 0}, {entry, false, plan.Transferred, 1}, {wide, true, plan.Assumed, 1}, {wide, false, plan.Assumed, 2},
	} {
		res, err := open(t, "h100_sxm/gemm.yaml", set(c.entry)).Lookup(key)
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Effective(c.inside); got != c.want {
			t.Errorf("inside %v: got %v, want %v", c.inside, got, c.want)
		}
		if got := len(res.Flags(c.inside)); got != c.flags {
			t.Errorf("inside %v: got %d flags, want %d", c.inside, got, c.flags)
		}
	}
}

func TestTransferBorrowsEveryKernelTheChipLacks(t *testing.T) {
	own := with(entry, "h100_sxm", "h200_sxm")
	r := open(t, "h100_sxm/gemm.yaml", set(entry, otherFormat), "h200_sxm/gemm.yaml",
		"schema: blis.registry/v1\nset: gemm\ntransfers:\n  - {from: h100_sxm, rule: same kernel}\nentries:"+own)
	k := key
	k.Chip = "h200_sxm"
	for format, want := range map[string]string{"bf16": "measured", "fp8": "transferred"} {
		k.Format = format
		res, err := r.Lookup(k)
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Entry.Method; got != want {
			t.Errorf("%s: got %s, want %s", format, got, want)
		}
		if res.Curve == nil {
			t.Errorf("%s: has no curve", format)
		}
	}
}

func TestOverlayReplacesOneEntry(t *testing.T) {
	keep.Rule(t, "SIM-6")
	base := files("h100_sxm/gemm.yaml", set(entry, otherFormat))
	over := files("h100_sxm/gemm.yaml", set(with(entry, "launch_us: 2", "launch_us: 3")))
	r, err := registry.Open(base, over)
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.Lookup(key)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := res.Curve.LaunchUS, 3.0; got != want {
		t.Errorf("launch: got %v, want %v", got, want)
	}
	if entries, err := r.Entries(); err != nil || len(entries) != 2 {
		t.Errorf("entries: got %d, %v, want 2", len(entries), err)
	}
	if h := r.Hashes(); len(h.Overlays) != 1 || h.Combined == h.Base {
		t.Errorf("hashes do not name the overlay: %+v", h)
	}
}

// Every case is the accepted entry with one thing changed.
func TestRefusals(t *testing.T) {
	keep.Rule(t, "D1", "D5", "SUB-4", "X8")
	if _, err := registry.Open(files("h100_sxm/gemm.yaml", set(entry))); err != nil {
		t.Fatalf("closest accepted: %v", err)
	}
	for name, c := range map[string]struct{ file, data, rule string }{
		"no method":          {"h100_sxm/gemm.yaml", set(with(entry, "measured", "guessed")), "VAL-1"},
		"no primitive":       {"h100_sxm/gemm.yaml", set(with(entry, "primitive: gemm", "primitive: matmul")), "SUB-7"},
		"no boundary":        {"h100_sxm/gemm.yaml", set(with(entry, "boundary: device", "boundary: gpu")), "VAL-9"},
		"another unit":       {"h100_sxm/gemm.yaml", set(with(entry, "unit: s", "unit: ms")), "SUB-16"},
		"another format":     {"h100_sxm/gemm.yaml", set(with(entry, "format: bf16", "format: bf17")), "SUB-16"},
		"no source":          {"h100_sxm/gemm.yaml", set(with(entry, "    source: {table: t, sha256: s, rows: 9}\n", "")), "VAL-1"},
		"no kernel":          {"h100_sxm/gemm.yaml", set(with(entry, "    kernel: lib/mm\n", "")), "VAL-8"},
		"no rule":            {"h100_sxm/gemm.yaml", set(with(entry, "method: measured", "method: transferred")), "VAL-1"},
		"no value":           {"h100_sxm/gemm.yaml", set(entry[:strings.Index(entry, "    curve:")]), "VAL-1"},
		"hidden uncertainty": {"h100_sxm/gemm.yaml", set(with(entry, "[0.98, 1.02]", "[0.5, 1.5]")), "VAL-10"},
		"twice":              {"h100_sxm/gemm.yaml", set(entry, entry), "VAL-4"},
		"another directory":  {"h200_sxm/gemm.yaml", set(entry), "SUB-9"},
		"another file name":  {"h100_sxm/gemm.yml", set(entry), "SUB-9"},
		"carriage return":    {"h100_sxm/gemm.yaml", set(entry) + "\r", "SUB-9"},
		"no donor":           {"h100_sxm/gemm.yaml", set(with(roofline, entry[strings.Index(entry, "    curve:"):], "    donor: {primitive: gemm, kernel: lib/x, chip: h100_sxm, boundary: device}\n")), "VAL-1"},
	} {
		_, err := registry.Open(files(c.file, c.data))
		if r, ok := errors.AsType[*diag.Refusal](err); !ok || r.Rule != c.rule {
			t.Errorf("%s: got %v, want a refusal under %s", name, err, c.rule)
		}
	}
}

func TestDiffSaysWhatMoved(t *testing.T) {
	a := open(t, "h100_sxm/gemm.yaml", set(entry, otherFormat))
	b := open(t, "h100_sxm/gemm.yaml", set(with(entry, "0.25 0.5", "0.25 0.6"), newVersion))
	diff := func(a, b *registry.Registry) (out []string) {
		changes, err := registry.Diff(a, b)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			out = append(out, c.Key.Version+" "+c.Key.Format+": "+c.What)
		}
		return out
	}
	got := diff(a, b)
	want := []string{"1.0 bf16: utilisation by factors 1.000 to 1.200, launch 2 to 2 us", "1.10 bf16: added", "1.0 fp8: removed"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if same := diff(a, a); len(same) > 0 {
		t.Errorf("a registry differs from itself: %v", same)
	}
}
