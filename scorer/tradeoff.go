package scorer

import "github.com/inference-sim/accuracy-dashboard/scorer/record"

// tradeoff derives throughput per chip and interactivity of a graded point from its
// mean latencies; nil where the run gives no mean output length.
func tradeoff(t *record.Trial, p *record.Point) *record.Tradeoff {
	ttft, ok := p.Metrics["ttft_mean"]
	tpot, okToo := p.Metrics["tpot_mean"]
	done := t.Result.Requests.Measured.Completed
	if !ok || !okToo || done == 0 || p.GPUs == 0 {
		return nil
	}
	tokens := float64(t.Result.Requests.OutputTokens) / float64(done) // the client fixes it: measured and simulated runs share it
	at := func(ttft, tpot float64) record.Operating {
		return record.Operating{Interactivity: 1 / tpot, Throughput: float64(float64(p.Concurrency)*tokens) / (ttft + float64((tokens-1)*tpot)) / float64(p.GPUs)}
	}
	return &record.Tradeoff{Measured: at(ttft.Measured, tpot.Measured), Simulated: at(ttft.Simulated, tpot.Simulated)}
}
