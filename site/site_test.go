package site

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/content"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/site/seal"
	"github.com/inference-sim/accuracy-dashboard/site/sitetest"
)

// build makes a site of n points. library is "" for static charts.
func build(t testing.TB, n int, library string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "public")
	if err := Build(context.Background(), sitetest.Release(n), Options{Out: out, Library: library, Prose: content.FS}); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTwoBuildsAreTheSameButForTheSignature(t *testing.T) {
	a, b := build(t, 300, ""), build(t, 300, "")
	first, second := read(t, a, seal.ManifestName), read(t, b, seal.ManifestName)
	if first != second {
		t.Errorf("manifests differ:\n%s", firstDifference(first, second))
	}
	if read(t, a, seal.BundleName) == read(t, b, seal.BundleName) {
		t.Error("bundles are equal, want two ephemeral keys")
	}
}

func TestSiteStandsWithoutTheChartLibrary(t *testing.T) {
	out := build(t, 300, "")
	home := read(t, out, "index.html")
	for _, want := range []string{"charts/scatter-ttft_mean-light.svg", "charts/scatter-ttft_mean-dark.svg", "without the chart library"} {
		if !strings.Contains(home, want) {
			t.Errorf("home page lacks %q", want)
		}
	}
	if strings.Contains(home, "charts.js") || strings.Contains(home, "/charts.") {
		t.Error("home page loads the chart script, want none")
	}
}

func TestValuesComeOutAsText(t *testing.T) {
	out := build(t, 60, "")
	for _, p := range sitetest.Release(60).Points {
		if p.Detail == "" {
			continue
		}
		html := read(t, out, "points/"+p.UnitID+"/index.html")
		if strings.Contains(html, "<b>\"quoted\"") || !strings.Contains(html, "&lt;/script&gt;&lt;b&gt;") {
			t.Errorf("point %s: markup in a recorded value was not escaped", p.UnitID)
		}
		return
	}
	t.Fatal("no point with a detail in the fixture")
}

func TestBuildRefusesToReplaceWhatIsNotASite(t *testing.T) {
	in := sitetest.Release(10)
	out := t.TempDir()
	if err := Records(t.Context(), in, out); err != nil {
		t.Fatalf("empty directory: got %v, want accepted", err)
	}
	if err := Records(t.Context(), in, out); err != nil {
		t.Fatalf("earlier site: got %v, want accepted", err)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "thesis.tex"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := Records(t.Context(), in, other)
	if _, ok := errors.AsType[*diag.Refusal](err); !ok {
		t.Errorf("other files: got %v, want a refusal", err)
	}
	if _, err := os.Stat(filepath.Join(other, "thesis.tex")); err != nil {
		t.Errorf("the file is gone: %v", err)
	}
}

func TestInterruptedBuildLeavesNothing(t *testing.T) {
	parent := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := Build(ctx, sitetest.Release(10), Options{Out: filepath.Join(parent, "public")})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	left, err := os.ReadDir(parent)
	if err != nil || len(left) != 0 {
		t.Errorf("got %v, %v left behind, want nothing", left, err)
	}
}

func read(t testing.TB, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return x[i] + "\n" + y[i]
		}
	}
	return "one is longer"
}
