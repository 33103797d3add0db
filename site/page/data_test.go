package page_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strconv"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/site/sitetest"
)

// A point that is not scored has what was measured, and no figure in place of what is not known.
func TestDataOfUnscoredPointsHoldWhatWasMeasured(t *testing.T) {
	in := sitetest.Release(60)
	m := build(t, in)
	rows, err := csv.NewReader(bytes.NewReader(m.files["data/points.csv"])).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := func(row []string, column string) string { return row[slices.Index(rows[0], column)] }
	var docs []map[string]any
	if err := json.Unmarshal(m.files["data/points.json"], &docs); err != nil {
		t.Fatal(err)
	}
	unscored := 0
	for i, row := range rows[1:] {
		p := in.Points[slices.IndexFunc(in.Points, func(p record.Point) bool { return p.UnitID == at(row, "unit_id") })]
		_, inJSON := docs[i]["gpus"]
		known := p.Grade != record.G5
		if (at(row, "gpus") != "") != known || inJSON != known || (at(row, "ttft_mean_simulated") != "") != known || (at(row, "ttft_mean_relative_error") != "") != known {
			t.Errorf("grade %s: %q, gpus in points.json %t, want known %t", p.Grade, row, inJSON, known)
		}
		if known {
			continue
		}
		unscored++
		want := p.Measured["ttft_mean"]
		if got, _ := strconv.ParseFloat(at(row, "ttft_mean_measured"), 64); got != want || at(row, "ttft_mean_unit") != "s" || docs[i]["measured"].(map[string]any)["ttft_mean"] != want {
			t.Errorf("got %q and %v, want the measured %g s", row, docs[i]["measured"], want)
		}
	}
	if unscored == 0 {
		t.Error("no point without a score was looked at")
	}
}
