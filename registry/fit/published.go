package fit

import (
	"embed"
	"sync"

	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

//go:embed report.json
var published []byte

// Plots are the charts of the same fits, one pair a primitive: fitted against
// measured, and the error over the shape's ideal time, on shapes kept from the fit.
//
//go:embed plots/*.svg
var Plots embed.FS

// Published is the report of the fits that wrote this build's registry.
var Published = sync.OnceValues(func() (*Report, error) {
	var r Report
	if err := strict.JSON("registry/fit/report.json", published, &r); err != nil {
		return nil, err
	}
	return &r, nil
})
