package spec

import "fmt"

// Distribution is one input model. Exactly one family is stated; Source says
// where its parameters come from. Neither is checked: a Result lists the drawn models
// without them as assumed.
type Distribution struct {
	Fixed     *float64   `yaml:"fixed,omitempty" json:"fixed,omitempty"`
	Uniform   *Bounds    `yaml:"uniform,omitempty" json:"uniform,omitempty"`
	Normal    *Normal    `yaml:"normal,omitempty" json:"normal,omitempty"`
	LogNormal *Normal    `yaml:"lognormal,omitempty" json:"lognormal,omitempty" jsonschema_description:"mean and std are of the natural logarithm, min and max of the value: a value of mean m and deviation s has std = sqrt(ln(1 + (s/m)^2)) and mean = ln(m) - std^2/2"`
	Exp       *MeanOnly  `yaml:"exponential,omitempty" json:"exponential,omitempty"`
	Empirical *Empirical `yaml:"empirical,omitempty" json:"empirical,omitempty"`
	Source    string     `yaml:"source,omitempty" json:"source,omitempty"`
	Fit       string     `yaml:"fit,omitempty" json:"fit,omitempty"` // goodness of fit: test, statistic, p-value
}

// Assumed lists the drawn input models of a workload's clients that state no source, or
// no goodness of fit where values are not drawn as they were found.
func (w *Workload) Assumed() (out []string) {
	add := func(at, source, fit string) {
		if source == "" {
			out = append(out, at+" states no source")
		} else if fit == "" {
			out = append(out, at+" states no goodness of fit")
		}
	}
	drawn := func(at string, d *Distribution) {
		if d == nil || d.Fixed != nil {
			return
		}
		fit := d.Fit
		if d.Empirical != nil {
			fit = "as found"
		}
		add(at, d.Source, fit)
	}
	for i := range w.Clients {
		c, at := &w.Clients[i], fmt.Sprintf("workload.clients[%d].", i)
		for _, a := range []struct {
			name string
			p    *Process
		}{{"poisson", c.Arrivals.Poisson}, {"gamma", c.Arrivals.Gamma}, {"weibull", c.Arrivals.Weibull}} {
			if a.p != nil {
				add(at+"arrivals."+a.name, a.p.Source, a.p.Fit)
			}
		}
		if k := c.Arrivals.Closed; k != nil {
			drawn(at+"arrivals.closed.think", k.Think)
		}
		drawn(at+"prompt", c.Prompt)
		drawn(at+"output", c.Output)
		if len(c.Joint) > 1 {
			add(at+"joint", c.JointSource, "as found")
		}
		for k := range c.Prefixes {
			drawn(fmt.Sprintf("%sprefixes[%d].prompt", at, k), c.Prefixes[k].Prompt)
			drawn(fmt.Sprintf("%sprefixes[%d].output", at, k), c.Prefixes[k].Output)
		}
		if s := c.Session; s != nil {
			drawn(at+"session.rounds", &s.Rounds)
			drawn(at+"session.think", s.Think)
		}
	}
	return out
}

// Bounds is a closed range.
type Bounds struct {
	Min float64 `yaml:"min" json:"min" jsonschema:"default=0"`
	Max float64 `yaml:"max" json:"max" jsonschema:"default=0"`
}

// Normal is truncated to Min..Max by drawing again. Of a lognormal distribution Mean and
// Std are those of the natural logarithm, Min and Max those of the value.
type Normal struct {
	Mean float64 `yaml:"mean" json:"mean" jsonschema:"default=0"`
	Std  float64 `yaml:"std" json:"std" jsonschema:"default=0"`
	Min  float64 `yaml:"min" json:"min" jsonschema:"default=0"`
	Max  float64 `yaml:"max" json:"max" jsonschema:"default=0"`
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
