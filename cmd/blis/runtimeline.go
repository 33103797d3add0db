package main

import (
	"bufio"
	"encoding/json"
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/sim"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// timeline writes the Trace Event Format: a process an instance with its batches
// as slices and its load as counters, and a process of requests as async slices.
//
// An engine may launch a batch before the one before it ends. A batch's slice
// begins where the one before it ended, so that none overlap and their durations
// add up to the instance's busy time; args.launched is when it was launched, in us.
//
// A request's slice ends with its last token, or when it was dropped, its client
// gave up or the run ended. args.output counts tokens of completed requests, as the
// Result does.
type timeline struct {
	output
	w    *bufio.Writer
	some bool             // an event was written
	last map[int]des.Time // end of an instance's last batch
}

const requestProcess = 1 << 20

func newTimeline(o output, _ string, _ *spec.Scenario) view {
	t := &timeline{output: o, w: bufio.NewWriterSize(o.file, 1<<16), last: map[int]des.Time{}}
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
	last, named := t.last[b.Instance]
	if !named {
		t.event(`{"ph":"M","name":"process_name","pid":%d,"args":{"name":"instance %d"}}`, b.Instance, b.Instance)
	}
	from := max(b.Launched, last)
	t.last[b.Instance] = b.End
	t.event(`{"ph":"X","name":%q,"pid":%d,"tid":0,"ts":%d,"dur":%d,"args":{"tokens":%d,"launched":%d}}`, b.Mode, b.Instance, from, b.End-from, b.Tokens, b.Launched)
	t.event(`{"ph":"C","name":"requests","pid":%d,"ts":%d,"args":{"running":%d,"waiting":%d}}`, b.Instance, b.End, b.Running, b.Waiting)
	t.event(`{"ph":"C","name":"KV use","pid":%d,"ts":%d,"args":{"share":%.4f}}`, b.Instance, b.End, b.KVUsage)
}

// Request draws its life: waiting, prefill, decode, as far as it came.
func (t *timeline) Request(r sim.RequestRecord) {
	about := map[string]any{"fate": r.Fate, "reason": r.Reason, "prompt": r.Prompt, "cached": r.Cached, "client": r.Client, "instance": r.Instance}
	end := r.Ended
	if r.Fate == "completed" {
		about["output"], end = r.Output, r.Last
	}
	args, _ := json.Marshal(about)
	name := fmt.Sprintf("request %d", r.Serial)
	t.edge("b", name, r.Serial, r.Sent, string(args))
	from := r.Sent
	for _, phase := range []struct {
		name  string
		until des.Time
		ended bool
	}{{"wait", r.Launched, r.Launched >= 0}, {"prefill", r.First, r.First > 0}, {"decode", end, false}} {
		until := end
		if phase.ended {
			until = min(phase.until, end)
		}
		t.edge("b", phase.name, r.Serial, from, "{}")
		t.edge("e", phase.name, r.Serial, until, "{}")
		if from = until; !phase.ended {
			break
		}
	}
	t.edge("e", name, r.Serial, end, "{}")
}

// edge is the begin or the end of a slice; those of one request nest in order.
func (t *timeline) edge(phase, name string, id uint64, at des.Time, args string) {
	t.event(`{"ph":%q,"cat":"request","name":%q,"id":%d,"pid":%d,"tid":0,"ts":%d,"args":%s}`, phase, name, id, requestProcess, at, args)
}

// Instant is not drawn.
func (t *timeline) Instant(des.Time, sim.Load) {}

func (t *timeline) finish() error {
	t.w.WriteString("\n]}\n")
	if err := t.w.Flush(); err != nil {
		return err
	}
	return t.keep()
}
