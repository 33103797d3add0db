package main

import (
	"github.com/inference-sim/accuracy-dashboard/registry/fit"
	"github.com/inference-sim/accuracy-dashboard/registry/fit/composite"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// residuals reads what the writers of the coefficients left on record.
func residuals() (*record.Residuals, error) {
	operators, err := fit.Published()
	if err != nil {
		return nil, err
	}
	out := new(record.Residuals)
	judged := func(j fit.Judged) record.FitError { return record.FitError{Count: j.N, Median: j.Median, P95: j.P95} }
	for _, p := range operators.Families {
		out.Operators = append(out.Operators, record.OperatorFit{Primitive: string(p.Primitive), Held: judged(p.Held), OneChipOut: judged(p.LeftOut)})
	}
	for _, published := range []func() (*composite.Report, error){composite.Published, composite.PublishedSGLang} {
		r, err := published()
		if err != nil {
			return nil, err
		}
		for _, f := range r.Runs {
			out.Runs = append(out.Runs, record.RunFit{Engine: r.Engine, UnitID: f.Unit, Lane: f.Lane, Metric: f.Metric, Measured: f.Measured, Predicted: f.LeftOut,
				Error: (f.LeftOut - f.Measured) / f.Measured, KVLimited: f.Capacity})
		}
	}
	return out, nil
}
