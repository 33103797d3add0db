package oracle

// This file is the project's own: it reads recordings.

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/engines/vllm/config"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/sched"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/replay"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

// The trace formats this package reads. The second records more.
const (
	Format       = "blis-oracle-vllm/1"
	SecondFormat = "blis-oracle-vllm2/1"
)

// Report is the outcome of one trace.
type Report = replay.Report

// Check replays the trace in r, plain or gzipped JSON, and compares every value. A
// .jsonl file and a file of defaults are start-ups, replayed by package config.
// A trace that cannot be read is an error; a trace that replays differently is not.
func Check(name string, r io.Reader) (Report, error) {
	data, err := read(name, r)
	if err != nil {
		return Report{}, err
	}
	if startups(name, data) {
		return checkStartups(name, data)
	}
	recorded, err := decode(name, data)
	if err != nil {
		return Report{}, err
	}
	return replay.Check(name, recorded, given, rerun(name))
}

// CheckCorrupted changes the n-th recorded value of the trace first; the report must
// then hold a difference. changed names the value.
func CheckCorrupted(name string, r io.Reader, n int) (rep Report, changed string, err error) {
	data, err := read(name, r)
	if err != nil {
		return Report{}, "", err
	}
	if startups(name, data) {
		return corruptStartups(name, data, n)
	}
	recorded, err := decode(name, data)
	if err != nil {
		return Report{}, "", err
	}
	if changed, err = replay.Corrupt(recorded, given, n); err != nil {
		return Report{}, "", diag.In(name, err)
	}
	rep, err = replay.Check(name, recorded, given, rerun(name))
	return rep, changed, err
}

func rerun(name string) func(map[string]any) (map[string]any, error) {
	return func(recorded map[string]any) (map[string]any, error) { return run(name, recorded) }
}

// startups reports whether a file records start-ups rather than steps.
func startups(name string, data []byte) bool {
	return strings.HasSuffix(name, ".jsonl") || bytes.Contains(data, []byte(`"format":"blis-oracle-vllm-defaults/1"`))
}

// launched are the keys of a recorded start-up that are input, not outcome.
var launched = map[string]bool{"format": true, "manifest_version": true, "provenance": true, "name": true, "chip": true, "model": true, "usage": true,
	"gpus": true, "args": true, "env": true, "capability": true, "kv": true, "mla": true, "num_heads": true, "priorities": true, "backend_for": true}

// corruptStartups changes the n-th value of the file's first recorded start-up.
func corruptStartups(name string, data []byte, n int) (Report, string, error) {
	first, rest := data, []byte(nil)
	if strings.HasSuffix(name, ".jsonl") {
		first, rest, _ = bytes.Cut(data, []byte("\n"))
	}
	var recorded map[string]any
	if err := strict.JSON(name, first, &recorded); err != nil {
		return Report{}, "", err
	}
	changed, err := replay.Corrupt(recorded, launched, n)
	if err != nil {
		return Report{}, "", diag.In(name, err)
	}
	line, err := json.Marshal(recorded)
	if err != nil {
		return Report{}, "", err
	}
	rep, err := checkStartups(name, append(append(line, '\n'), rest...))
	return rep, changed, err
}

// checkStartups replays recorded start-ups: they have no steps, one value a line or
// fact.
func checkStartups(name string, data []byte) (Report, error) {
	r, err := config.CheckStartups(name, bytes.NewReader(data))
	rep := Report{Name: name, Values: r.Checked}
	for _, d := range r.Differences {
		line, what, _ := strings.Cut(d, ": ")
		rep.Differences = append(rep.Differences, replay.Difference{Path: line, Want: "agreement", Got: what})
	}
	return rep, err
}

// read returns the whole trace, gunzipped.
func read(name string, r io.Reader) ([]byte, error) {
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
	return data, nil
}

func decode(name string, data []byte) (map[string]any, error) {
	var trace map[string]any
	if err := strict.JSON(name, data, &trace); err != nil {
		return nil, err
	}
	if got, _ := trace["format"].(string); got != Format && got != SecondFormat {
		return nil, &diag.Refusal{File: name, Field: "format", Value: got, Problem: "is not a trace of this engine", Accept: Format + " or " + SecondFormat}
	}
	return trace, nil
}

// given are the trace's keys that are input, not outcome.
var given = map[string]bool{"format": true, "manifest_version": true, "provenance": true, "scenario": true}

// run plays a trace's scenario and returns the outcome in the trace's own form.
func run(name string, recorded map[string]any) (map[string]any, error) {
	raw, err := json.Marshal(recorded["scenario"])
	if err != nil {
		return nil, &diag.Refusal{File: name, Field: "scenario", Problem: err.Error()}
	}
	out := object{"scenario_sha256": shortDigest(raw, 64), "steps": []any{}, "resolved": object{}}
	w, err := parse(name, recorded, raw, false)
	if refused, ok := errors.AsType[*sched.StartupError](err); ok {
		out["startup_error"] = []string{refused.Type, clip(refused.Text, 300)}
	} else if err != nil {
		return nil, diag.In(name, err)
	} else {
		steps, ended, final := w.run()
		out["resolved"], out["steps"], out["ended"], out["final"] = w.resolved(), steps, ended, final
	}
	return canonical(name, out)
}

// parse reads a scenario into a world ready to run.
func parse(name string, recorded map[string]any, raw []byte, bare bool) (*world, error) {
	var s scenario
	if err := alone(recorded["scenario"]); err != nil {
		return nil, diag.In(name, err)
	}
	if err := replay.Input(name, "scenario", raw, &s); err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, diag.In(name, err)
	}
	c, err := parseConfig(name, s.Config)
	if err != nil {
		return nil, err
	}
	w, err := newWorld(&s, c, bare)
	if err != nil {
		return nil, err
	}
	w.second = recorded["format"] == any(SecondFormat)
	return w, nil
}

func clip(s string, n int) string { return s[:min(n, len(s))] }

// canonical puts the outcome into the form the trace was decoded to.
func canonical(name string, out object) (map[string]any, error) {
	data, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var v map[string]any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return v, dec.Decode(&v)
}
