package site

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/need"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/site/sitetest"
)

// What browser/browser.mjs reports.
type browserReport struct {
	Pages map[string]map[string]struct { // by page, by colour scheme
		Heading, Background string
		Overflow, Narrow    int
		Charts              []struct {
			Live, Picture bool
			Marks, Want   int
		}
		Wrong, Violations []string
	}
	Plain map[string]struct{ Rows, Pictures, Text int }

	Explorer struct {
		Wrong, Filtered                                                   []string
		First, None                                                       int
		Count, FilteredURL, AriaSort, SortedURL, PageURL, Cleared, Opened string
		Odd                                                               [3]any
		Far, Reason                                                       string
		Beside, BesideAgain                                               int
		BesideLeft                                                        [2]int
		Sorted                                                            []float64
		PermalinkHolds                                                    bool
	}
	Table struct {
		Wrong                    []string
		Sorted                   []*float64
		AriaSort, Focused, Found string
		Sifted, Setting          string
	}
	Narrow struct {
		Wrong, Plates []string
		Rows          []float64 // pixels a text of each chart of rows
		Lost          string
	}
	Print struct {
		FirstStop, Ink string // Ink is of a chart's text, on paper
		PDF            int
	}
}

const browsed = 300 // points of the site that is opened

// pageTypes are the paths of one page of each type.
func pageTypes() map[string]string {
	pages := map[string]string{"home": "", "points": "points/", "lanes": "lanes/", "engines": "engines/", "engine": "engines/vllm/", "chips": "chips/", "chip": "chips/h100_sxm/",
		"models": "models/", "model": "models/gpt-oss-120b/", "coverage": "coverage/", "backlog": "backlog/", "method": "method/", "glossary": "glossary/", "verify": "verify/",
		"data": "data/", "releases": "releases/", "release": "releases/v0.2.0/", "change": "releases/unreleased/since-v0.2.0/", "residuals": "residuals/", "reference": "reference/", "imports": "reference/imports/", "rules": "reference/invariants/", "checks": "reference/checks/", "fits": "reference/fits/", "settings": "reference/fields-vllm/", "contributing": "contributing/", "workbench": "workbench/"}
	for _, p := range sitetest.Release(browsed).Points {
		if pages["lane"] == "" {
			pages["lane"] = "lanes/" + strings.ReplaceAll(p.Lane, " ", "-") + "/"
		}
		switch {
		case p.Grade == record.G5 && pages["refused"] == "":
			pages["refused"] = "points/" + p.UnitID + "/"
		case p.Grade == record.G4 && pages["point"] == "":
			pages["point"] = "points/" + p.UnitID + "/"
		}
	}
	return pages
}

// open runs the browser over the site in dir.
func open(t *testing.T, dir string) (r browserReport) {
	t.Helper()
	pages, err := json.Marshal(pageTypes())
	if err != nil {
		t.Fatal(err)
	}
	browse(t, dir, "browser.mjs", string(pages), &r)
	return r
}

// browse runs a script of the browser over the site in dir and reads its report.
func browse(t *testing.T, dir, script, what string, report any) {
	t.Helper()
	chromium := need.Tool(t, "chromium", "make test installs it")
	node := need.Tool(t, "node", "make test needs it")
	need.File(t, "node_modules/playwright-core", "make test installs it")
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	run := exec.Command(node, "browser/"+script, server.URL+"/", what)
	run.Env = append(os.Environ(), "CHROMIUM="+chromium)
	run.Stderr = os.Stderr
	out, err := run.Output()
	if err != nil {
		t.Fatalf("browser: %v", err)
	}
	if err := json.Unmarshal(out, report); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
}

func TestSiteInABrowser(t *testing.T) {
	need.File(t, "node_modules/echarts", "make test installs it")
	r := open(t, shared(t, "node_modules"))
	if got, want := slices.Sorted(maps.Keys(r.Pages)), slices.Sorted(maps.Keys(pageTypes())); !slices.Equal(got, want) {
		t.Fatalf("opened %v, want %v", got, want)
	}
	charts := 0
	for name, schemes := range r.Pages {
		for scheme, p := range schemes {
			for _, fault := range append(p.Wrong, p.Violations...) {
				t.Errorf("%s, %s: %s", name, scheme, fault)
			}
			for i, c := range p.Charts {
				charts++
				if !c.Live || c.Picture || c.Want == 0 || c.Marks < c.Want {
					t.Errorf("%s, %s: chart %d: live %v, %d paths, static picture %v; want live, %d or more, none", name, scheme, i, c.Live, c.Marks, c.Picture, c.Want)
				}
			}
			if p.Heading == "" {
				t.Errorf("%s, %s: no heading", name, scheme)
			}
			if p.Overflow > 0 {
				t.Errorf("%s, %s: %d px wider than the window", name, scheme, p.Overflow)
			}
		}
		if schemes["light"].Background == schemes["dark"].Background {
			t.Errorf("%s: both schemes have the background %s", name, schemes["dark"].Background)
		}
		if over := schemes["light"].Narrow; over > 0 {
			t.Errorf("%s: %d px wider than a screen of 360", name, over)
		}
	}
	if charts == 0 {
		t.Error("no chart on any page")
	}
	t.Run("without scripts", func(t *testing.T) { withoutScripts(t, r) })
	t.Run("explorer", func(t *testing.T) { explorer(t, r) })
	t.Run("table", func(t *testing.T) { table(t, r) })
	t.Run("narrow", func(t *testing.T) { narrow(t, r) })
	if r.Print.FirstStop != "Skip to the content" {
		t.Errorf("first keyboard stop: got %q, want the skip link", r.Print.FirstStop)
	}
	if r.Print.Ink != "#333" {
		t.Errorf("a chart printed from the dark theme: got text in %s, want #333, which is for paper", r.Print.Ink)
	}
	if r.Print.PDF < 20_000 {
		t.Errorf("printed PDF: got %d bytes, want a page with content", r.Print.PDF)
	}
}

func withoutScripts(t *testing.T, r browserReport) {
	for name, p := range r.Plain {
		if p.Text < 100 {
			t.Errorf("%s: %d characters of text", name, p.Text)
		}
		if want := len(r.Pages[name]["light"].Charts); p.Pictures != want {
			t.Errorf("%s: got %d static pictures, want %d", name, p.Pictures, want)
		}
	}
	if got := r.Plain["lane"].Rows; got < 20 {
		t.Errorf("lane: got %d table rows, want all its points", got)
	}
}

func explorer(t *testing.T, r browserReport) {
	e := r.Explorer
	if len(e.Wrong) > 0 {
		t.Errorf("got %v, want nothing on the console", e.Wrong)
	}
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"rows of the first page", e.First, 100}, {"count", e.Count, "300 of 300 points"},
		{"engines after filtering", strings.Join(e.Filtered, ","), "sglang"}, {"address after filtering", e.FilteredURL, "?engine=sglang"},
		{"aria-sort", e.AriaSort, "descending"}, {"address after sorting", e.SortedURL, "?sort=-concurrency&engine=sglang"},
		{"address of the second page", e.PageURL, "?sort=-concurrency&page=2&engine=sglang"}, {"permalink shows the same rows", e.PermalinkHolds, true},
		{"an address of nonsense", e.Odd, [3]any{0.0, "No point matches all of this. Fewer words, or “Clear all”, bring some back.", true}}, {"a page between two", e.Far, "Page 2 of 3"},
		{"points side by side", e.Beside, 2}, {"and at their address", e.BesideAgain, 2}, {"after one is removed", e.BesideLeft, [2]int{1, 1}},
		{"rows for a text nothing has", e.None, 0}, {"address after clearing", e.Cleared, ""}, {"a row opens a point", strings.HasPrefix(e.Opened, "/points/"), true},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %v, want %v", c.what, c.got, c.want)
		}
	}
	if !slices.Contains(record.Reasons(), record.Reason(strings.ReplaceAll(e.Reason, " ", "_"))) {
		t.Errorf("in place of figures: got %q, want a reason", e.Reason)
	}
	if len(e.Sorted) == 0 || !slices.IsSortedFunc(e.Sorted, func(a, b float64) int { return int(b - a) }) {
		t.Errorf("sorted by concurrency, descending: got %v", e.Sorted)
	}
}

func table(t *testing.T, r browserReport) {
	if len(r.Table.Wrong) > 0 {
		t.Errorf("got %v, want nothing on the console", r.Table.Wrong)
	}
	seen, last := 0, -1e9
	for i, v := range r.Table.Sorted {
		switch {
		case v == nil: // points without an error come last
			seen = i
		case seen > 0:
			t.Fatalf("row %d has an error below a row without: %v", i, *v)
		case *v < last:
			t.Fatalf("row %d: %v stands below %v", i, *v, last)
		default:
			last = *v
		}
	}
	if got := r.Table.Sifted; !strings.HasPrefix(got, "1 of ") {
		t.Errorf("rules with cov-11: got %q, want 1 of all", got)
	}
	if got, want := r.Table.Setting, "max-num-seqs"; !strings.HasPrefix(got, want) {
		t.Errorf("search for --max-num-seqs: led to %q, want %q", got, want)
	}
	if r.Table.AriaSort != "ascending" || r.Table.Focused != "q-site" || r.Table.Found != "/glossary/" {
		t.Errorf("got sort %q, focus %q, found %q", r.Table.AriaSort, r.Table.Focused, r.Table.Found)
	}
}

func narrow(t *testing.T, r browserReport) {
	if len(r.Narrow.Wrong) > 0 {
		t.Errorf("got %v, want nothing on the console", r.Narrow.Wrong)
	}
	if len(r.Narrow.Rows) == 0 {
		t.Error("no chart of rows")
	}
	for i, px := range r.Narrow.Rows {
		if px < 10 {
			t.Errorf("chart of rows %d: got %.1f px a text, want 10 or more", i, px)
		}
	}
	if got := r.Narrow.Plates; len(got) != 1 || got[0] != "rgb(251, 250, 247)" {
		t.Errorf("ground of plates in the dark: got %v, want the light one", got)
	}
	if got := r.Narrow.Lost; got != "rgb(18, 21, 27)" {
		t.Errorf("ground of the page of a lost address: got %s, want the dark one", got)
	}
}
