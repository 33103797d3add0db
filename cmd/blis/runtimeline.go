package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/sim"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
)

// timeline writes the Trace Event Format: a process an instance with its batches
// as slices and its load as counters, and a process of requests as async slices.
type timeline struct {
	output
	w     *bufio.Writer
	some  bool // an event was written
	named map[int]bool
}

const requestProcess = 1 << 20

func newTimeline(o output) view {
	t := &timeline{output: o, w: bufio.NewWriterSize(o.file, 1<<16), named: map[int]bool{}}
	t.w.WriteString(`{"displayTimeUnit":"ms","traceEvents":[`)
	t.event(`{"ph":"M","name":"process_name","pid":%d,"args":{"name":"requests"}}`, requestProcess)
	return t
}

// event writes one event; bufio keeps the first error for finish.
func (t *timeline) event(format string, args ...any) {
	if t.some {
		t.w.WriteByte(',')
	}
	t.some = true
	fmt.Fprintf(t.w, "\n"+format, args...)
}

// Batch draws a slice and the counters after it.
func (t *timeline) Batch(b sim.BatchRecord) {
	if !t.named[b.Instance] {
		t.named[b.Instance] = true
		t.event(`{"ph":"M","name":"process_name","pid":%d,"args":{"name":"instance %d"}}`, b.Instance, b.Instance)
	}
	t.event(`{"ph":"X","name":%q,"pid":%d,"tid":0,"ts":%d,"dur":%d,"args":{"tokens":%d}}`, b.Mode, b.Instance, b.Launched, b.End-b.Launched, b.Tokens)
	t.event(`{"ph":"C","name":"requests","pid":%d,"ts":%d,"args":{"running":%d,"waiting":%d}}`, b.Instance, b.End, b.Running, b.Waiting)
	t.event(`{"ph":"C","name":"KV use","pid":%d,"ts":%d,"args":{"share":%.4f}}`, b.Instance, b.End, b.KVUsage)
}

// Request draws its life: waiting, prefill, decode.
func (t *timeline) Request(r sim.RequestRecord) {
	args, _ := json.Marshal(map[string]any{"fate": r.Fate, "reason": r.Reason, "prompt": r.Prompt, "cached": r.Cached, "output": r.Output, "client": r.Client, "instance": r.Instance})
	end := max(r.Last, r.First, r.Launched, r.Sent)
	t.slice(fmt.Sprintf("request %d", r.Serial), r.Serial, r.Sent, end, string(args))
	if r.Launched >= 0 {
		t.slice("wait", r.Serial, r.Sent, r.Launched, "{}")
		t.slice("prefill", r.Serial, r.Launched, max(r.First, r.Launched), "{}")
	}
	if r.Last > 0 {
		t.slice("decode", r.Serial, r.First, r.Last, "{}")
	}
}

func (t *timeline) slice(name string, id uint64, from, to des.Time, args string) {
	t.event(`{"ph":"b","cat":"request","name":%q,"id":%d,"pid":%d,"tid":0,"ts":%d,"args":%s}`, name, id, requestProcess, from, args)
	t.event(`{"ph":"e","cat":"request","name":%q,"id":%d,"pid":%d,"tid":0,"ts":%d}`, name, id, requestProcess, to)
}

// Instant is not drawn.
func (t *timeline) Instant(des.Time, sim.Load) {}

// Stop never stops a run.
func (t *timeline) Stop() error { return nil }

func (t *timeline) finish() error {
	t.w.WriteString("\n]}\n")
	if err := t.w.Flush(); err != nil {
		return err
	}
	return t.keep()
}

// output is a file that appears at its path only when it is whole.
type output struct {
	file *os.File
	path string
}

// create begins the file that a flag names; a path that cannot take it is refused
// before any work is done.
func create(flag, path string) (output, error) {
	if i, err := os.Stat(path); err == nil && i.IsDir() {
		return output{}, &diag.Refusal{Field: flag, Value: path, Problem: "is a directory", Accept: "the path of a file"}
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".blis-*")
	if err != nil {
		return output{}, &diag.Refusal{Field: flag, Value: path, Problem: "cannot be written: " + err.Error()}
	}
	return output{f, path}, nil
}

func (o *output) keep() error {
	if err := o.file.Chmod(0o644); err != nil {
		return err
	}
	if err := o.file.Close(); err != nil {
		return err
	}
	return os.Rename(o.file.Name(), o.path)
}

func (o *output) discard() {
	o.file.Close()
	os.Remove(o.file.Name())
}
