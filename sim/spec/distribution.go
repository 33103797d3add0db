package spec

// Distribution is one input model. Exactly one family is stated; Source says
// where its parameters come from.
type Distribution struct {
	Fixed     *float64   `yaml:"fixed,omitempty" json:"fixed,omitempty"`
	Uniform   *Bounds    `yaml:"uniform,omitempty" json:"uniform,omitempty"`
	Normal    *Normal    `yaml:"normal,omitempty" json:"normal,omitempty"`
	LogNormal *Normal    `yaml:"lognormal,omitempty" json:"lognormal,omitempty"` // mean and std of the logarithm
	Exp       *MeanOnly  `yaml:"exponential,omitempty" json:"exponential,omitempty"`
	Empirical *Empirical `yaml:"empirical,omitempty" json:"empirical,omitempty"`
	Source    string     `yaml:"source,omitempty" json:"source,omitempty"`
	Fit       string     `yaml:"fit,omitempty" json:"fit,omitempty"` // goodness of fit: test, statistic, p-value
}

// Bounds is a closed range.
type Bounds struct {
	Min float64 `yaml:"min" json:"min"`
	Max float64 `yaml:"max" json:"max"`
}

// Normal is truncated to Min..Max by drawing again.
type Normal struct {
	Mean float64 `yaml:"mean" json:"mean"`
	Std  float64 `yaml:"std" json:"std"`
	Min  float64 `yaml:"min" json:"min"`
	Max  float64 `yaml:"max" json:"max"`
}

// MeanOnly is a one-parameter family. A draw beyond the range of its quantity
// (MaxTokens, MaxRounds, MaxSeconds) gives the end of the range.
type MeanOnly struct {
	Mean float64 `yaml:"mean" json:"mean"`
}

// Empirical draws Values with Weights (equal when absent).
type Empirical struct {
	Values  []float64 `yaml:"values" json:"values"`
	Weights []float64 `yaml:"weights,omitempty" json:"weights,omitempty"`
}
