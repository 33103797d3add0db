package composite

import (
	_ "embed"
	"sync"

	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

//go:embed report.json
var published []byte

// Published is the record of the fit that wrote this build's registry.
var Published = sync.OnceValues(func() (*Report, error) {
	var r Report
	if err := strict.JSON("report.json", published, &r); err != nil {
		return nil, err
	}
	return &r, nil
})
