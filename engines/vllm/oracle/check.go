package oracle

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/engines/vllm/config"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/sched"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

// The trace formats this package reads. The second records more.
const (
	Format       = "blis-oracle-vllm/1"
	SecondFormat = "blis-oracle-vllm2/1"
)

// Report is the outcome of replaying one trace.
type Report struct {
	Name        string
	Steps       int // loop iterations compared
	Values      int // values compared
	Differences []Difference
	recorded    map[string]any // for drawing
	replayed    map[string]any
}

// Check replays the trace in r, plain or gzipped JSON, and compares every value. A
// .jsonl file and a file of defaults are start-ups, replayed by package config.
// A trace that cannot be read is an error; a trace that replays differently is not.
func Check(name string, r io.Reader) (Report, error) {
	data, err := read(name, r)
	if err != nil {
		return Report{}, err
	}
	if strings.HasSuffix(name, ".jsonl") || bytes.Contains(data, []byte(`"format":"blis-oracle-vllm-defaults/1"`)) {
		return checkStartups(name, data)
	}
	recorded, err := decode(name, data)
	if err != nil {
		return Report{}, err
	}
	return check(name, recorded)
}

// checkStartups replays recorded start-ups: they have no steps, one value a line or
// fact.
func checkStartups(name string, data []byte) (Report, error) {
	r, err := config.CheckStartups(name, bytes.NewReader(data))
	rep := Report{Name: name, Values: r.Checked}
	for _, d := range r.Differences {
		rep.Differences = append(rep.Differences, Difference{Path: d, Want: Missing{}, Got: Missing{}})
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

func check(name string, recorded map[string]any) (Report, error) {
	rep := Report{Name: name, recorded: recorded}
	replayed, err := replay(name, recorded)
	if err != nil {
		return rep, err
	}
	rep.replayed = replayed
	want := maps.Clone(recorded)
	maps.DeleteFunc(want, func(k string, _ any) bool { return given[k] })
	rep.compare("", want, replayed)
	for i := range rep.Differences {
		rep.Differences[i].Path = strings.TrimPrefix(rep.Differences[i].Path, ".")
	}
	steps, _ := recorded["steps"].([]any)
	rep.Steps = len(steps)
	return rep, nil
}

// given are the trace's keys that are input, not outcome.
var given = map[string]bool{"format": true, "manifest_version": true, "provenance": true, "scenario": true}

// replay runs a trace's scenario and returns the outcome in the trace's own form.
func replay(name string, recorded map[string]any) (map[string]any, error) {
	raw, err := json.Marshal(recorded["scenario"])
	if err != nil {
		return nil, &diag.Refusal{File: name, Field: "scenario", Problem: err.Error()}
	}
	var s scenario
	if err := strict.JSON(name, raw, &s); err != nil {
		return nil, err
	}
	c, err := parseConfig(name, s.Config)
	if err != nil {
		return nil, err
	}
	out := object{"scenario_sha256": shortDigest(raw, 64), "steps": []any{}, "resolved": object{}}
	w, err := newWorld(&s, c)
	if w != nil {
		w.second = recorded["format"] == any(SecondFormat)
	}
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

func clip(s string, n int) string { return s[:min(n, len(s))] }

// canonical puts the outcome into the form the trace was decoded to.
func canonical(name string, out object) (map[string]any, error) {
	data, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var v map[string]any
	if err := strict.JSON(name, data, &v); err != nil {
		return nil, err
	}
	return v, nil
}
