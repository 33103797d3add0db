package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// pointFile is what a re-run needs of record.PointFile, the document beside a point's page: the
// Result as its own bytes, so that a field this program does not know counts as a difference. That
// package holds measured runs, which no browser fetches; the tests make their documents with it.
type pointFile struct {
	Point struct {
		Metrics map[string]struct {
			Simulated json.Number `json:"simulated"`
		} `json:"metrics"`
	} `json:"point"`
	Trial struct {
		Scenario, Result json.RawMessage
	} `json:"trial"`
}

// verdict is whether a published Result regenerates. Hashes are SHA-256 of the
// canonical bytes, which both documents have one form of.
type verdict struct {
	Bytes     int          `json:"bytes"`     // of the Result made here
	Here      string       `json:"here"`      // its hash
	Published string       `json:"published"` // hash of the Result in the document
	Same      bool         `json:"same"`      // bytes and every metric
	Differs   []difference `json:"differs"`   // the first places; empty when Same
}

// difference is one place where the published document says something else.
type difference struct {
	At        string `json:"at"`
	Published string `json:"published"`
	Here      string `json:"here"`
}

const mostDifferences = 20

// rerun simulates the scenario of a point's document and compares.
func rerun(doc []byte, report progress) (*verdict, error) {
	var p pointFile
	if err := json.Unmarshal(doc, &p); err != nil {
		return nil, &diag.Refusal{File: "point.json", Problem: err.Error(), Accept: "the document beside a point's page"}
	}
	if p.Trial.Scenario == nil || p.Trial.Result == nil {
		return nil, &diag.Refusal{File: "point.json", Field: "trial", Problem: "holds no scenario with its result", Accept: "the document of a graded point"}
	}
	here, err := simulate(made, p.Trial.Scenario, report)
	if err != nil {
		return nil, err
	}
	published, err := canon.JSON(p.Trial.Result)
	if err != nil {
		return nil, &diag.Refusal{File: "point.json", Field: "trial.result", Problem: err.Error()}
	}
	v := &verdict{Bytes: len(here), Here: canon.Sum(here), Published: canon.Sum(published), Differs: []difference{}}
	if !bytes.Equal(here, published) {
		if err := v.compare(published, here); err != nil {
			return nil, err
		}
	}
	if err := v.metrics(&p, here); err != nil {
		return nil, err
	}
	v.Same = v.Here == v.Published && len(v.Differs) == 0
	return v, nil
}

// metrics holds the simulated values that the page shows to the Result's figures.
func (v *verdict) metrics(p *pointFile, here []byte) error {
	var r spec.Result
	if err := json.Unmarshal(here, &r); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(p.Point.Metrics)) {
		f, ok := r.Figure(id, "cluster")
		got, err := p.Point.Metrics[id].Simulated.Float64()
		if !ok || err != nil || got != f.Value {
			v.differ("point.metrics."+id+".simulated", p.Point.Metrics[id].Simulated, f.Value)
		}
	}
	return nil
}

// compare lists where two documents differ.
func (v *verdict) compare(published, here []byte) error {
	var trees [2]any
	for i, b := range [][]byte{published, here} {
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		if err := d.Decode(&trees[i]); err != nil {
			return err
		}
	}
	v.walk("", trees[0], trees[1])
	return nil
}

func (v *verdict) walk(at string, a, b any) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			keys := maps.Clone(x)
			maps.Copy(keys, y)
			for _, k := range slices.Sorted(maps.Keys(keys)) {
				v.walk(at+"."+k, x[k], y[k])
			}
			return
		}
	case []any:
		if y, ok := b.([]any); ok && len(x) == len(y) {
			for i := range x {
				v.walk(fmt.Sprintf("%s[%d]", at, i), x[i], y[i])
			}
			return
		}
	}
	v.differ("result"+at, a, b)
}

func (v *verdict) differ(at string, published, here any) {
	p, h := short(published), short(here)
	if p != h && len(v.Differs) < mostDifferences {
		v.Differs = append(v.Differs, difference{at, p, h})
	}
}

// short is v as JSON, cut to what a table shows; absent is "nothing".
func short(v any) string {
	if v == nil {
		return "nothing"
	}
	b, err := canon.JSON(v)
	if err != nil {
		return err.Error()
	}
	if s := []rune(string(b)); len(s) > 80 {
		return string(s[:80]) + "…"
	}
	return string(b)
}
