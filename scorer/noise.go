package scorer

import (
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// noise is the relative spread (largest minus smallest over the mean) of repeated
// measurements, by unit id and metric id. Measurements repeat each other when they
// belong to one unit, or to units that differ only in measured date or benchmark
// run and whose recorded image digests agree; a unit whose digest is not recorded
// is pooled with no other, because its build may differ (COV-10).
func noise(trials []record.Trial) (map[string]map[string]float64, error) {
	pools := map[string][]*ledger.Unit{}
	for i := range trials {
		u := trials[i].Unit
		key, err := poolKey(u)
		if err != nil {
			return nil, err
		}
		pools[key] = append(pools[key], u)
	}
	out := map[string]map[string]float64{}
	for _, pool := range pools { //determinism:any-order each pool writes its own units
		spread := map[string]float64{}
		for _, id := range ledger.Metrics() {
			var v []float64
			for _, u := range pool {
				for j := range u.Measurements {
					if x, ok := u.Measurements[j].Value(id); ok {
						v = append(v, x)
					}
				}
			}
			if len(v) > 1 {
				spread[id] = (slices.Max(v) - slices.Min(v)) / average(v)
			}
		}
		for _, u := range pool {
			out[u.ID] = spread
		}
	}
	return out, nil
}

// poolKey is the identity without date and run, and the image digest; a unit
// without a digest gets a pool of its own.
func poolKey(u *ledger.Unit) (string, error) {
	digest := u.ImageDigest()
	if digest == "" {
		return u.ID, nil
	}
	id := u.Identity
	id.MeasuredDate, id.BenchmarkRun = nil, nil
	h, err := canon.Hash(id)
	return h + " " + digest, err
}

func average(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
