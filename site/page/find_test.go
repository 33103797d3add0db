package page_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/site/page"
	"github.com/inference-sim/accuracy-dashboard/site/sitetest"
)

func TestHomeLeadsToEveryLaneWithAScore(t *testing.T) {
	in := sitetest.Release(240)
	m := build(t, in)
	want := map[string]bool{}
	for _, p := range in.Points {
		if p.Grade != record.G5 {
			want["lanes/"+strings.ReplaceAll(p.Lane, " ", "-")+"/"] = true
		}
	}
	got := map[string]bool{}
	for _, b := range m.docs[""].Blocks {
		if b.Kind == "group" && b.Blocks[0].ID == "find" {
			for _, r := range b.Blocks[0].Table.Rows {
				for _, c := range r.Cells {
					if c.Href != "" {
						got[c.Href] = true
						if !strings.Contains(c.Text, ", n=") {
							t.Errorf("%s: %q says over how many points nowhere", c.Href, c.Text)
						}
					}
				}
			}
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}

func TestHomeLeadsToWhatIsModelledOfAnEngine(t *testing.T) {
	in := sitetest.Release(120) // one engine has every point
	body := build(t, in).docs[""].Body
	for _, want := range []string{`href="./engines/vllm/#modelled"`, `href="./engines/sglang/#modelled"`} {
		if !strings.Contains(body, want) {
			t.Errorf("home page lacks %s", want)
		}
	}
	in.Points = slices.DeleteFunc(in.Points, func(p record.Point) bool { return p.Engine == "sglang" })
	if body := build(t, in).docs[""].Body; !strings.Contains(body, `href="./reference/fields-sglang/"`) {
		t.Error("an engine without points: home page does not lead to its settings")
	}
}

func TestChartsDrawTheSpreadOfRepeatedRuns(t *testing.T) {
	m := build(t, sitetest.Release(120)) // TPOT has noise, TTFT has none
	for _, c := range []struct{ chart, caption string }{
		{"scatter-tpot_mean", "known for 96 of 96 measured points"}, {"scatter-ttft_mean", "no run was repeated"},
		{"load-tpot_mean", "known for 96 of 96 measured points"}, {"load-ttft_mean", "no run was repeated"},
	} {
		chart := chartOf(t, m.docs[""].Blocks, c.chart)
		if !strings.Contains(chart.Caption, c.caption) {
			t.Errorf("%s: got caption %q, want %q in it", c.chart, chart.Caption, c.caption)
		}
		drawn := strings.Contains(string(m.files["charts/"+c.chart+".option.json"]), `"spread of repeated runs"`)
		if want := c.caption != "no run was repeated"; drawn != want {
			t.Errorf("%s: spread in the legend %v, want %v", c.chart, drawn, want)
		}
	}
}

func chartOf(t *testing.T, blocks []page.Block, id string) *page.Chart {
	t.Helper()
	for _, b := range blocks {
		for _, inner := range b.Blocks {
			if inner.ID == id {
				return inner.Chart
			}
		}
	}
	t.Fatalf("no chart %s", id)
	return nil
}

func TestBacklogSaysADetailOnce(t *testing.T) {
	in := sitetest.Release(10)
	in.Backlog.Entries = []record.BacklogEntry{{Kind: "reason", Name: "engine_unsupported: no port of it", Detail: "no port of it"}, {Kind: "field", Name: "router", Detail: "not modelled", Recipe: "contributing/add/#a-model"}}
	rows := block(t, build(t, in).docs["backlog/"], "backlog").Table.Rows
	if got, want := []string{rows[0].Cells[5].Text, rows[1].Cells[5].Text}, []string{"", "not modelled"}; !slices.Equal(got, want) {
		t.Errorf("got details %q, want %q", got, want)
	}
	if got := rows[1].Cells[6].Href; got != "contributing/add/#a-model" {
		t.Errorf("what clears an entry links to %q", got)
	}
}

// Whoever chooses finds the page for it, and a link says nothing of the page of rules that a build without a run of the
// checks does not keep.
func TestHomeAndWorkbenchLeadToChoosing(t *testing.T) {
	m := build(t, sitetest.Release(60))
	for _, path := range []string{"", "workbench/"} {
		body := m.docs[path].Body
		if !strings.Contains(body, `choose/">Choose a configuration</a>`) || strings.Contains(body, "hold today") {
			t.Errorf("page %q: leads to no choice, or promises a run of the checks", path)
		}
	}
}
