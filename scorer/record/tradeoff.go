package record

// Tradeoff is a run as one point between what a user gets and what a chip gives,
// measured and simulated. The source records no throughput, so both sides are derived
// by one rule from figures it records: Little's law on the closed loop that the client
// is. Its ramp and its tail are left out of both.
type Tradeoff struct {
	Measured  Operating `json:"measured"`
	Simulated Operating `json:"simulated"`
}

// Operating is one side of a Tradeoff.
type Operating struct {
	Interactivity float64 `json:"interactivity"`                     // output tokens/s a user sees: 1 / tpot_mean
	Throughput    float64 `json:"output_throughput_per_accelerator"` // tokens/s: concurrency * n / (ttft_mean + (n-1) * tpot_mean) / accelerators, n mean output tokens
}
