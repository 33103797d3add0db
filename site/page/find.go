package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// choosing leads to the page for whoever has a goal in place of a deployment.
var choosing = Fact{"Choose a configuration", "rank layouts, settings and chips for a goal", "choose/"}

// ways lead each kind of reader on from the home page.
func (s *site) ways() Block {
	ways := []Fact{{"Find a deployment", "by model and chip", "#find"}, {"How it works", "what is simulated, compared and graded", "method/"}}
	for _, kind := range sortedKeys(s.Summary.Build.Engines) {
		href := "engines/" + slug(kind) + "/#modelled"
		if !slices.ContainsFunc(s.Points, func(p record.Point) bool { return p.Engine == kind }) {
			href = "reference/fields-" + kind + "/" // without points an engine has no page of its own
		}
		ways = append(ways, Fact{"What is modelled of " + engineName(kind), "and what is refused", href})
	}
	return Block{Kind: "links", Facts: append(ways, Fact{"Rules", "what they mean, and where each is checked", "reference/invariants/"},
		Fact{"Workbench", "change a deployment, here", "workbench/"}, choosing)}
}

// engineName is an engine as its own project writes it.
func engineName(kind string) string {
	if own, ok := map[string]string{"vllm": "vLLM", "sglang": "SGLang", "trtllm": "TensorRT-LLM"}[kind]; ok {
		return own
	}
	return kind
}

// modelled are the pages that say what an engine's port does and refuses.
func (s *site) modelled(kind string) []Block {
	build, ok := s.Summary.Build.Engines[kind]
	if !ok {
		return nil
	}
	return []Block{{Kind: "links", ID: "modelled", Title: "What is modelled", Note: "The port follows " + build + ". What it does not model is refused by name, never ignored.", Facts: []Fact{
		{"Settings", "modelled, without effect, or refused", "reference/fields-" + kind + "/"},
		{"Features", "schedulers, connectors, kernels and the rest", "reference/surface-" + kind + "/"},
		{"Release", "which commit, and why that one", "reference/upstreams/"}}}}
}

// find is a table from which a reader reaches a deployment's lane: a row for each model, engine and precision, a column for
// each chip. It leaves out what was never scored.
func (s *site) find() Block {
	lanes := splitBy(s.Points, func(p *record.Point) string { return p.Lane })
	var chips []string
	at := map[[3]string]map[string]string{} // model, engine, precision; chip; lane
	for lane, points := range lanes {       // sorted below
		if graded(points) == 0 {
			continue
		}
		p := &points[0]
		key := [3]string{modelName(p.Model), p.Engine, p.Precision}
		if at[key] == nil {
			at[key] = map[string]string{}
		}
		at[key][p.Hardware] = lane
		chips = append(chips, p.Hardware)
	}
	slices.Sort(chips)
	chips = slices.Compact(chips)
	t := &Table{ID: "find", Caption: "Mean absolute error of TTFT and of TPOT in each lane", Columns: []Column{{Label: "Model"}, {Label: "Engine"}, {Label: "Precision"}}}
	for _, c := range chips {
		t.Columns = append(t.Columns, Column{Label: c, Unit: "TTFT · TPOT, points", Num: true})
	}
	var keys [][3]string
	for k := range at { // sorted below
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b [3]string) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a[0]), strings.ToLower(b[0])), slices.Compare(a[1:], b[1:]))
	})
	for _, k := range keys {
		r := row(k[:]...)
		for _, c := range chips {
			r.Cells = append(r.Cells, s.laneErrors(at[k][c]))
		}
		t.Rows = append(t.Rows, r)
	}
	if len(t.Rows) == 0 {
		return Block{Kind: "text", ID: "find", Title: "Find a deployment", Paragraphs: []string{"No lane has a graded point."}}
	}
	return Block{Kind: "group", Blocks: []Block{
		{Kind: "table", ID: "find", Title: "Find a deployment", Note: "Mean absolute error of TTFT and of TPOT, over n graded runs. Open a cell for the deployment's runs, measured beside simulated, each with the command that reproduces it.", Table: t},
		{Kind: "links", Facts: []Fact{{"Every lane", "scored or not", "lanes/"}, {"Every point", "filter and sort", "points/"}}}}}
}

// laneErrors is one cell: a lane's headline errors, and the way to it.
func (s *site) laneErrors(lane string) Cell {
	if lane == "" {
		return Cell{Text: "–", Class: "zero"}
	}
	var said, over []string
	for _, m := range headlineMetrics {
		for _, a := range s.Summary.ByLane {
			if a.Group == lane && a.Metric == m {
				value, _ := figureCells(a.MAPE)
				said, over = append(said, value.Text), append(over, count(a.MAPE.Points()))
			}
		}
	}
	if slices.Contains(said, tooFew) {
		said = []string{tooFew}
	}
	return Cell{Text: fmt.Sprintf("%s, n=%s", strings.Join(said, " · "), strings.Join(slices.Compact(over), " · ")), Href: lanePath(lane)}
}
