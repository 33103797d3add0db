package scorer

import (
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// Whatever a trial holds, it is refused, or its point, summary, coverage and backlog can be written.
func FuzzPointsOfATrial(f *testing.F) {
	good := exact()
	data, err := canon.JSON(&good)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"refusal":{"reason":"not_in_catalog","detail":"m"}}`))
	f.Add([]byte(`{"scenario":{},"result":{"accepted":true,"engines":[{}],"figures":[{"metric":"ttft_mean","scope":"cluster","value":1e308,"unit":"s"}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var trial record.Trial
		if strict.JSON("trial.json", data, &trial) != nil {
			return
		}
		trial.Unit = good.Unit
		points, err := Points([]record.Trial{trial})
		if err != nil {
			return
		}
		coverage := Cover(points, 1, 0)
		for _, document := range []any{points, Summarize(points, record.Build{}, coverage), coverage, Rank(points)} {
			if _, err := canon.Indent(document); err != nil {
				t.Errorf("%T cannot be written: %v", document, err)
			}
		}
	})
}
