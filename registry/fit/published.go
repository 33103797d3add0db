package fit

import (
	_ "embed"
	"sync"

	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

//go:embed report.json
var published []byte

// Published is the report of the fits that wrote this build's registry.
var Published = sync.OnceValues(func() (*Report, error) {
	var r Report
	if err := strict.JSON("registry/fit/report.json", published, &r); err != nil {
		return nil, err
	}
	return &r, nil
})
