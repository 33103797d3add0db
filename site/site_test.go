package site

import (
	"context"
	"errors"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/inference-sim/accuracy-dashboard/content"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/invariants"
	"github.com/inference-sim/accuracy-dashboard/site/seal"
	"github.com/inference-sim/accuracy-dashboard/site/sitetest"
)

// build makes a site of n points. library is "" for static charts.
func build(t testing.TB, n int, library string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "public")
	if err := Build(context.Background(), sitetest.Release(n), options(t, out, library)); err != nil {
		t.Fatal(err)
	}
	return out
}

// sites are made once for every test that only reads one.
var sites = struct {
	dir  string // TestMain removes it
	made map[string]bool
}{made: map[string]bool{}}

func TestMain(m *testing.M) {
	var err error
	if sites.dir, err = os.MkdirTemp("", "site"); err != nil {
		log.Fatal(err)
	}
	code := m.Run()
	if err := os.RemoveAll(sites.dir); err != nil {
		log.Print(err)
	}
	os.Exit(code)
}

// shared is a site of browsed points that no test may change; library as in build.
func shared(t testing.TB, library string) string {
	t.Helper()
	out := filepath.Join(sites.dir, "with-"+library)
	if !sites.made[library] {
		if err := Build(context.Background(), sitetest.Release(browsed), options(t, out, library)); err != nil {
			t.Fatal(err)
		}
		sites.made[library] = true
	}
	return out
}

// options are those of a whole site; library is "" for static charts.
func options(t testing.TB, out, library string) Options {
	t.Helper()
	reference, err := fs.Sub(content.Reference, "generated")
	if err != nil {
		t.Fatal(err)
	}
	records, err := invariants.Records()
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Out: out, Library: library, Prose: content.FS, Reference: reference}
	for _, r := range records {
		o.Rules = append(o.Rules, r.ID)
	}
	return o
}

func TestTwoBuildsAreTheSameButForTheSignature(t *testing.T) {
	keep.Rule(t, "X6")
	a, b := shared(t, ""), build(t, browsed, "")
	first, second := read(t, a, seal.ManifestName), read(t, b, seal.ManifestName)
	if first != second {
		t.Errorf("manifests differ:\n%s", firstDifference(first, second))
	}
	if read(t, a, seal.BundleName) == read(t, b, seal.BundleName) {
		t.Error("bundles are equal, want two ephemeral keys")
	}
}

func TestSiteStandsWithoutTheChartLibrary(t *testing.T) {
	out := shared(t, "")
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

func TestPagesWeighLittleWithoutCharts(t *testing.T) {
	const most = 200_000 // bytes of the page, its style and its script, uncompressed
	out := shared(t, "")
	always := size(t, out, "css/*.css") + size(t, out, "js/page.*.js")
	for name, path := range pageTypes() {
		if got := always + size(t, out, path+"index.html"); got > most {
			t.Errorf("%s: got %d bytes, want at most %d", name, got, most)
		}
	}
}

func size(t *testing.T, dir, pattern string) int {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
	if err != nil || len(names) != 1 {
		t.Fatalf("%s: got %v, %v, want one file", pattern, names, err)
	}
	info, err := os.Stat(names[0])
	if err != nil {
		t.Fatal(err)
	}
	return int(info.Size())
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
	keep.Rule(t, "COV-8")
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

func TestBuildKeepsFilesPutIntoAnEarlierSite(t *testing.T) {
	keep.Rule(t, "COV-8")
	out := build(t, 10, "")
	if err := Replaceable(out); err != nil {
		t.Fatalf("the site as made: got %v, want accepted", err)
	}
	notes := filepath.Join(out, "data", "notes.txt")
	if err := os.WriteFile(notes, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Replaceable(out); err == nil || !strings.Contains(err.Error(), "notes.txt") {
		t.Errorf("with a file of its reader's: got %v, want a refusal that names it", err)
	}
}

func TestOutMayBeRelative(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, out := range []string{"public", filepath.Join("..", filepath.Base(t.TempDir()), "made", "public")} {
		if err := Build(t.Context(), sitetest.Release(10), options(t, out, "")); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if _, err := seal.Verify(out, nil); err != nil {
			t.Errorf("%s: %v", out, err)
		}
	}
	if err := Build(t.Context(), sitetest.Release(10), options(t, "", "")); err == nil {
		t.Error("no directory: accepted, want refused")
	}
}

func TestBrokenProseFailsTheBuildWithItsPlace(t *testing.T) {
	keep.Rule(t, "COV-8")
	for _, c := range []struct{ name, link, want string }{
		{"unknown rule", "[a rule](inv:NO-1)", `content/extra.md:6:1`},
		{"missing page", "[a page](/nowhere/)", "extra/index.html"},
		{"missing picture", "![a picture](/nowhere.svg)", "nowhere.svg: no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(t, filepath.Join(t.TempDir(), "public"), "")
			o.Prose = overlay{o.Prose, "---\ntitle: Extra\ndescription: More.\n---\n\n" + c.link + "\n"}
			err := Build(t.Context(), sitetest.Release(10), o)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q named", err, c.want)
			}
			if _, err := os.Stat(o.Out); err == nil {
				t.Error("a site was published")
			}
		})
	}
}

// overlay adds extra.md to a file system.
type overlay struct {
	fs.FS
	extra string
}

func (o overlay) Open(name string) (fs.File, error) {
	if name == "extra.md" {
		return fstest.MapFS{"extra.md": {Data: []byte(o.extra)}}.Open(name)
	}
	return o.FS.Open(name)
}

func (o overlay) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(o.FS, name)
	if name == "." && err == nil {
		more, err := fs.ReadDir(fstest.MapFS{"extra.md": {Data: []byte(o.extra)}}, ".")
		return append(entries, more...), err
	}
	return entries, err
}

func TestTenThousandPointsInAMinuteOfTwoCores(t *testing.T) {
	points, most := 1_000, 20*time.Second // of CPU: what else runs on the machine does not count
	if os.Getenv("BLIS_NIGHTLY") != "" {
		points, most = 10_000, 2*time.Minute
	}
	in, o := sitetest.Release(points), options(t, filepath.Join(t.TempDir(), "public"), "")
	before, _ := usage(t)
	if err := Build(t.Context(), in, o); err != nil {
		t.Fatal(err)
	}
	after, resident := usage(t)
	t.Logf("%d points: %v of CPU, %d MB at most", points, after-before, resident)
	if got := after - before; got > most {
		t.Errorf("%d points took %v of CPU, want at most %v", points, got, most)
	}
	if most := int64(1024); resident > most {
		t.Errorf("used %d MB, want at most %d", resident, most)
	}
}

// usage is the CPU time of this process and the most memory it held, in MB.
func usage(t *testing.T) (time.Duration, int64) {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), used.Maxrss >> 10
}

func TestInterruptedBuildLeavesNothing(t *testing.T) {
	keep.Rule(t, "COV-8")
	parent := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := Build(ctx, sitetest.Release(10), options(t, filepath.Join(parent, "public"), ""))
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
