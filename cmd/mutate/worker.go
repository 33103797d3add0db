package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/inference-sim/accuracy-dashboard/internal/mutate"
)

// How a break is killed.
const (
	differs = "difference"
	panics  = "panic"
	sticks  = "stuck"
	tested  = "test"
	escapes = "alive" // of one task; the break is then not killed
)

// task is one break to wake and the traces to replay, in order.
type task struct {
	ID     int
	Traces []int
	Limit  []float64 // CPU seconds a trace may take
}

// passage is what a trace did without a break.
type passage struct {
	Seconds float64
	Reached []int
}

// worker is the planted binary's part: a census prints a passage a trace; otherwise it
// reads tasks and answers each with a line, "ID how".
func worker(p port, traces []string) error {
	data := make([][]byte, len(traces))
	for i, name := range traces {
		var err error
		if data[i], err = os.ReadFile(name); err != nil {
			return err
		}
	}
	out := json.NewEncoder(os.Stdout)
	if *work == "census" {
		for i, name := range traces {
			pass, err := p.passage(name, data[i])
			if err != nil {
				return err
			}
			if err := out.Encode(pass); err != nil {
				return err
			}
		}
		return nil
	}
	w := &watch{}
	go w.run()
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var t task
		if err := json.Unmarshal(in.Bytes(), &t); err != nil {
			return err
		}
		how := escapes
		for k := 0; k < len(t.Traces) && how == escapes; k++ {
			i := t.Traces[k]
			w.start(t.ID, t.Limit[k])
			how = p.wake(t.ID, traces[i], data[i])
			w.stop()
		}
		fmt.Printf("%d %s\n", t.ID, how)
	}
	return nil
}

// passage replays a trace without a break and notes which breaks it passes.
func (p port) passage(name string, data []byte) (passage, error) {
	mutate.Reached = make([]bool, 1<<16)
	defer func() { mutate.Reached = nil }()
	began := cpuSeconds()
	rep, err := p.check(name, bytes.NewReader(data))
	if err != nil || len(rep.Differences) > 0 {
		return passage{}, fmt.Errorf("%s does not replay without a break: %w, %d differences", name, err, len(rep.Differences))
	}
	out := passage{Seconds: cpuSeconds() - began}
	for id, reached := range mutate.Reached {
		if reached {
			out.Reached = append(out.Reached, id)
		}
	}
	return out, nil
}

// wake replays one trace with one break awake.
func (p port) wake(id int, name string, data []byte) (how string) {
	mutate.Awake = id
	defer func() {
		mutate.Awake = 0
		if recover() != nil {
			how = panics
		}
	}()
	rep, err := p.check(name, bytes.NewReader(data))
	if err != nil || len(rep.Differences) > 0 {
		return differs
	}
	return escapes
}

// watch ends the process when a replay takes too much time or memory: a goroutine
// cannot be stopped from outside.
type watch struct{ id, until atomic.Int64 } // until is CPU microseconds; 0 is idle

func (w *watch) start(id int, seconds float64) {
	w.id.Store(int64(id))
	w.until.Store(int64((cpuSeconds() + seconds) * 1e6))
}

func (w *watch) stop() { w.until.Store(0) }

func (w *watch) run() {
	for {
		time.Sleep(20 * time.Millisecond)
		until := w.until.Load()
		if until == 0 {
			continue
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if int64(cpuSeconds()*1e6) > until || m.HeapAlloc > *memory {
			fmt.Printf("%d %s\n", w.id.Load(), sticks)
			os.Exit(0)
		}
	}
}
