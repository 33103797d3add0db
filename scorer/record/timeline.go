package record

// Timeline is what a simulated run did over time, in bins of equal length. A value is
// the mean over the batches that ended in the bin, weighted by their length; 0 where
// none did. Running, Waiting and KV are of one engine instance.
type Timeline struct {
	BinSeconds float64   `json:"bin_s"`
	Running    []float64 `json:"running"`    // requests
	Waiting    []float64 `json:"waiting"`    // requests
	KV         []float64 `json:"kv_usage"`   // share of the blocks
	Tokens     []float64 `json:"tokens_s"`   // scheduled tokens a second, prompt and output, of all instances
	Measured   float64   `json:"measured_s"` // when the measured window starts
}
