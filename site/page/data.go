package page

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// Records are the data files alone: what every page is made from, each point's own document included.
func Records(in Input, w Writer) error {
	s := newSite(in, w)
	if err := s.records(); err != nil {
		return err
	}
	for i := range s.Points {
		if err := s.pointFile(&s.Points[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *site) records() error {
	points := s.Points
	if points == nil {
		points = []record.Point{}
	}
	for _, f := range []struct {
		name string
		doc  any
	}{
		{"points", points}, {"summary", s.Summary}, {"coverage", s.Summary.Coverage}, {"backlog", s.Backlog}, {"residuals", s.Fits},
	} {
		if f.name == "residuals" && s.Fits == nil {
			continue
		}
		data, err := canon.Indent(f.doc)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if err := s.w.File("data/"+f.name+".json", data); err != nil {
			return err
		}
	}
	rows, err := s.csv()
	if err != nil {
		return err
	}
	if err := s.w.File("data/points.csv", rows); err != nil {
		return err
	}
	return s.snapshots()
}

// csv is one line a point, one column group a metric that any point has.
func (s *site) csv() ([]byte, error) {
	ids := map[string]bool{}
	for i := range s.Points {
		for id := range s.Points[i].Metrics {
			ids[id] = true
		}
		for id := range s.Points[i].Measured {
			ids[id] = true
		}
	}
	metrics := sortedKeys(ids)
	head := []string{"unit_id", "lane", "engine", "engine_version", "hardware", "model", "precision", "isl", "osl", "concurrency", "gpus", "grade", "reason", "detail"}
	for _, m := range metrics {
		head = append(head, m+"_measured", m+"_simulated", m+"_unit", m+"_relative_error")
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write(head); err != nil {
		return nil, err
	}
	for i := range s.Points {
		p, gpus := &s.Points[i], ""
		if p.GPUs > 0 {
			gpus = fmt.Sprint(p.GPUs)
		}
		line := []string{p.UnitID, p.Lane, p.Engine, p.EngineVersion, p.Hardware, p.Model, p.Precision, fmt.Sprint(p.ISL), fmt.Sprint(p.OSL),
			fmt.Sprint(p.Concurrency), gpus, string(p.Grade), string(p.Reason), p.Detail}
		for _, id := range metrics {
			if m, ok := p.Metrics[id]; ok {
				line = append(line, raw(m.Measured), raw(m.Simulated), m.Unit, raw(m.RelativeError))
			} else if v, ok := p.Measured[id]; ok {
				line = append(line, raw(v), "", "s", "")
			} else {
				line = append(line, "", "", "", "")
			}
		}
		if err := w.Write(line); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// data writes the records and the page that offers them.
func (s *site) data() error {
	if err := s.records(); err != nil {
		return err
	}
	files := []Fact{
		{"points.json", "every point: identity, grade, differences, metrics", "data/points.json"}, {"points.csv", "the same, one line a point", "data/points.csv"},
		{"summary.json", "every published figure with its count, scope and interval", "data/summary.json"}, {"coverage.json", "units by grade and reason", "data/coverage.json"},
		{"backlog.json", "what lowers coverage or grade", "data/backlog.json"}, {"workbench.json", "what the workbench starts from", "data/workbench.json"},
	}
	if s.Fits != nil {
		files = append(files, Fact{"residuals.json", "how far fits are from data they never saw", "data/residuals.json"})
	}
	var schemas []Fact
	for _, name := range s.Reference {
		if file := (Fact{Name: path.Base(name), Href: "reference/" + name}); strings.HasPrefix(name, "schemas/") {
			schemas = append(schemas, file)
		} else {
			file.Value = "part of the reference"
			files = append(files, file)
		}
	}
	return s.page(Doc{Path: "data/", Title: "Data", Description: "Everything on this site as files, with schemas.",
		Lead: "Every number here can be taken away. The files are what the pages were made from, and the manifest signs them with the rest.",
		Blocks: []Block{
			{Kind: "links", ID: "files", Title: "Files", Facts: files},
			{Kind: "links", ID: "schemas", Title: "Schemas", Note: "JSON Schema, draft 2020-12, of every document that is read or written.", Facts: schemas},
			{Kind: "text", ID: "more", Title: "Beside every page", Paragraphs: []string{
				"A point's page has its full document at point.json in the same folder: the point, the scenario, the result and what the run recorded. Tables over many points have a CSV, and every chart a CSV, a JSON and an SVG, linked under it."}},
			{Kind: "code", ID: "cite", Title: "How to cite", Code: []string{s.citation()}},
		}})
}

func (s *site) citation() string {
	return fmt.Sprintf("BLIS accuracy. %s, source revision %s. Unit ids name single points.", BuildName(s.Summary.Build.Release), s.Summary.Build.Commit)
}

// explorer is the page of all points and the compact file it reads.
func (s *site) explorer() error {
	type column struct {
		ID     string `json:"id"`
		Label  string `json:"label,omitempty"` // empty: not shown
		Unit   string `json:"unit,omitempty"`
		Num    bool   `json:"num,omitempty"`
		Filter string `json:"filter,omitempty"` // its label among the filters; empty: none
		Format string `json:"format,omitempty"`
		Digits int    `json:"digits,omitempty"` // behind the point
	}
	columns := []column{{ID: "unit_id"}, {ID: "model", Label: "Model", Filter: "Model"}, {ID: "hardware", Filter: "Chip"}, {ID: "chips", Label: "Chips"},
		{ID: "engine", Label: "Engine", Filter: "Engine"}, {ID: "precision", Label: "Precision", Filter: "Precision"}, {ID: "load", Label: "Prompt→output", Unit: "tokens", Filter: "Prompt→output"},
		{ID: "concurrency", Label: "Concurrency", Num: true, Filter: "Concurrency"}, {ID: "grade", Label: "Grade", Filter: "Grade"}, {ID: "reason", Filter: "Reason"}}
	for _, m := range headlineMetrics {
		columns = append(columns, column{ID: m, Label: strings.TrimSuffix(metricName(m), " mean") + " measured", Unit: "ms", Num: true, Format: "number", Digits: digits(m)}, column{ID: m + "_error", Label: "error", Num: true, Format: "percent"})
	}
	columns = append(columns, column{ID: "engine_version", Label: "Engine build"})
	rows := make([][]any, len(s.Points))
	for i := range s.Points {
		p := &s.Points[i]
		r := []any{p.UnitID, modelName(p.Model), p.Hardware, chips(p), p.Engine, p.Precision, load(p), p.Concurrency, p.Grade, p.Reason}
		for _, id := range headlineMetrics {
			if m, ok := p.Metrics[id]; ok {
				r = append(r, round3(m.Measured*1000), m.RelativeError)
			} else if v, ok := p.Measured[id]; ok {
				r = append(r, round3(v*1000), nil)
			} else {
				r = append(r, nil, nil)
			}
		}
		rows[i] = append(r, buildName(p.EngineVersion))
	}
	data, err := json.Marshal(struct {
		Columns []column `json:"columns"`
		Rows    [][]any  `json:"rows"`
	}{columns, rows})
	if err != nil {
		return err
	}
	if err := s.w.File("data/explorer.json", data); err != nil {
		return err
	}
	return s.page(Doc{Path: "points/", Title: "Points", Section: true, View: "explorer", Description: "Every measured unit: filter, sort, open.",
		Lead: "Every measured run, with the error of its simulation or, at G5, without one. The address keeps what you filter, sort and put side by side.", Blocks: []Block{{Kind: "explorer"}}})
}
