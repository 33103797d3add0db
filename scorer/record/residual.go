package record

// Residuals is how far each fitted method is from data it never saw, as the writers of
// the coefficients left it on record. No unit of a scored role is among it.
type Residuals struct {
	Operators []OperatorFit `json:"operators"`
	Runs      []RunFit      `json:"whole_runs"`
}

// OperatorFit is one primitive. Each Error is absolute and relative, over shapes.
type OperatorFit struct {
	Primitive  string   `json:"primitive"`
	Held       FitError `json:"held_out"`     // a fifth of the shapes
	OneChipOut FitError `json:"one_chip_out"` // a measured chip priced as if it had no table
}

// FitError is over Count shapes; both are 0 where Count is.
type FitError struct {
	Count  int     `json:"count"`
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
}

// RunFit is one measured run of role fit, predicted with its own lane left out.
type RunFit struct {
	Engine    string  `json:"engine"`
	UnitID    string  `json:"unit_id"`
	Lane      string  `json:"lane"`
	Metric    string  `json:"metric"`
	Measured  float64 `json:"measured_s"`
	Predicted float64 `json:"predicted_s"`
	Error     float64 `json:"relative_error"` // (predicted - measured) / measured
	KVLimited bool    `json:"limited_by_kv_capacity"`
}
