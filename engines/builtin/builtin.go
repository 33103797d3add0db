// Package builtin is the one place that lists the engine ports in this binary.
// Rule kept: X3 (one build site).
package builtin

import (
	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/sglang"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm"
)

// Kinds returns every port, by name.
func Kinds() ([]engines.Kind, error) {
	v, err := vllm.New()
	if err != nil {
		return nil, err
	}
	s, err := sglang.New()
	if err != nil {
		return nil, err
	}
	return []engines.Kind{s, v}, nil
}
