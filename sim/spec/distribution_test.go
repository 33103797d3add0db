package spec

import (
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// A drawn input model that names no source, or no goodness of fit, is assumed; a fixed
// value and what is drawn as it was found need none.
func TestAssumedInputs(t *testing.T) {
	keep.Rule(t, "DEV-7")
	const text = `schema: blis.scenario/1
engine: {kind: vllm, version: v}
model: m
hardware: h
workload:
  clients:
  - {name: a, requests: 1, arrivals: {poisson: {rate: 1}}, prompt: {exponential: {mean: 9}, source: s}, output: {fixed: 9}, session: {rounds: {uniform: {min: 1, max: 3}}, think: {exponential: {mean: 9}, source: s, fit: f}}}
  - {name: b, requests: 1, arrivals: {closed: {concurrency: 1, think: {exponential: {mean: 1}}}}, joint: [{prompt: 1, output: 1, weight: 1}, {prompt: 2, output: 1, weight: 1}]}
  - {name: c, requests: 1, arrivals: {constant: {rate: 1}}, prompt: {empirical: {values: [1, 2]}, source: s}, output: {fixed: 1}, prefixes: [{name: p, tokens: 1, share: 1, output: {exponential: {mean: 2}}}]}
  - {name: d, requests: 1, arrivals: {gamma: {rate: 1, shape: 2, source: s, fit: f}}, joint: [{prompt: 1, output: 1, weight: 1}, {prompt: 2, output: 1, weight: 1}], joint_source: s}
`
	s, err := Parse("s.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"workload.clients[0].arrivals.poisson states no source", "workload.clients[0].prompt states no goodness of fit", "workload.clients[0].session.rounds states no source",
		"workload.clients[1].arrivals.closed.think states no source", "workload.clients[1].joint states no source",
		"workload.clients[2].prefixes[0].output states no source",
	}
	if got := s.Workload.Assumed(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := Parse("s.yaml", []byte(strings.Replace(text, "output: {fixed: 9},", "output: {fixed: 9}, joint_source: s,", 1))); err == nil || !strings.Contains(err.Error(), "joint_source: s: stands without joint") {
		t.Errorf("a source of no pairs: got %v", err)
	}
}
