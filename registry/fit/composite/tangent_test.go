package composite

import (
	"context"
	"math"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/ledger"
)

// TestSlopesAgreeWithSimulation differentiates the TPOT of one short run and
// simulates it at larger costs. Mean TTFT moves in steps, by whole engine steps
// missed, so its slope holds on average over runs only and is not compared here.
func TestSlopesAgreeWithSimulation(t *testing.T) {
	w, err := world.Open(world.Paths{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	r := &Runs{World: w, Jobs: 1}
	for u := range l.ByRole(ledger.Fit) {
		if u.Framework == "vllm" && u.Hardware == "h200_sxm" && u.Concurrency == 16 && *u.Serving.ISL == 1024 && *u.Serving.OSL == 1024 {
			r.units = append(r.units, u)
			break
		}
	}
	params := Standard()
	which := []int{0}
	at := starts(params)
	predicted, slope, err := r.slopes(context.Background(), params, at, which)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for j, q := range params {
		if math.IsNaN(slope[0][j]) {
			continue
		}
		compared++
		v := append([]float64{}, at...)
		v[j] += q.Scale / 4
		moved, err := r.simulate(context.Background(), params, v, which)
		if err != nil {
			t.Fatal(err)
		}
		want, got := (moved[0]-predicted[0])/(q.Scale/4), slope[0][j]
		if math.Abs(got-want) > 0.02*predicted[0]/q.Scale+0.1*math.Abs(want) {
			t.Errorf("%s: got %v, simulation says %v", q.Key.Primitive, got, want)
		}
	}
	if want := len(costs); compared != want {
		t.Errorf("compared %d slopes, want %d", compared, want)
	}
}
