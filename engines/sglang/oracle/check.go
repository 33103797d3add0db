// Package oracle replays recorded runs of SGLang's own scheduler through this port
// and compares every recorded value.
//
// In: a trace. Out: a report; a trace that cannot be read is an error, one that
// replays differently is not. The format is the recorder's sglang-oracle-1:
// scenario, provenance, input, error, max_req_input_len, ratio, steps. Rules kept:
// SGL-1, SGL-2 of the Target Design.
package oracle

// This file is the project's own: it reads recordings.

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/replay"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

// Format is the trace format this package reads.
const Format = "sglang-oracle-1"

// Report is the outcome of one trace.
type Report = replay.Report

// given are the trace's keys that are input, not outcome.
var given = map[string]bool{"scenario": true, "provenance": true, "input": true}

// Check replays the trace in r, plain or gzipped JSON, and compares every value.
func Check(name string, r io.Reader) (Report, error) {
	trace, err := read(name, r)
	if err != nil {
		return Report{}, err
	}
	return replay.Check(name, trace, given, func(t map[string]any) (map[string]any, error) { return run(name, t) })
}

// CheckCorrupted changes the n-th recorded value of the trace first; the report must
// then hold a difference. changed names the value.
func CheckCorrupted(name string, r io.Reader, n int) (rep Report, changed string, err error) {
	trace, err := read(name, r)
	if err != nil {
		return Report{}, "", err
	}
	if changed, err = replay.Corrupt(trace, given, n); err != nil {
		return Report{}, "", diag.In(name, err)
	}
	rep, err = replay.Check(name, trace, given, func(t map[string]any) (map[string]any, error) { return run(name, t) })
	return rep, changed, err
}

func read(name string, r io.Reader) (map[string]any, error) {
	data, err := io.ReadAll(r)
	if err == nil && bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			data, err = io.ReadAll(z)
		}
	}
	if err != nil {
		return nil, &diag.Refusal{File: name, Problem: err.Error()}
	}
	var trace map[string]any
	if err := strict.JSON(name, data, &trace); err != nil {
		return nil, err
	}
	provenance, _ := trace["provenance"].(map[string]any)
	if got, _ := provenance["manifest_version"].(string); got != Format {
		return nil, &diag.Refusal{File: name, Field: "provenance.manifest_version", Value: got, Problem: "is not a trace of this engine", Accept: Format}
	}
	return trace, nil
}

// run replays a trace's input and returns the outcome in the trace's own form.
func run(name string, recorded map[string]any) (map[string]any, error) {
	raw, err := json.Marshal(recorded["input"])
	if err != nil {
		return nil, &diag.Refusal{File: name, Field: "input", Problem: err.Error()}
	}
	var s scenario
	if err := replay.Input(name, "input", raw, &s); err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, diag.In(name, err)
	}
	w, err := newWorld(&s)
	if err != nil {
		return nil, diag.In(name, err)
	}
	init, least, decay := w.sched.Ratios()
	out, err := json.Marshal(object{
		"error": nil, "max_req_input_len": w.config.MaxReqInputLen(),
		"ratio": object{"init": init, "min": least, "decay": decay}, "steps": w.run(),
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var v map[string]any
	return v, strict.JSON(name, out, &v)
}
