package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/sim"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
)

// Every command that simulates or converts stops when it is interrupted, and leaves no file.
func TestEveryRunStopsWhenInterrupted(t *testing.T) {
	dir := withFiles(t, map[string]string{"s.yaml": chatScenario, "t.jsonl": "", "seats.yaml": seats, "a.csv": "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,5,1\n"})
	if code, _, complaint := blisIn(t, dir, "trace", "export", "s.yaml", "--out", "t.jsonl"); code != exit.Done {
		t.Fatal(complaint)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, line := range []string{"run s.yaml --timeline x --plot y.svg", "bench --requests 10", "compare s.yaml s.yaml", "replicate s.yaml", "search seats.yaml --plot x.svg", "replay s.yaml t.jsonl", "trace export s.yaml --out x", "trace convert a.csv --from azure --out x"} {
		var out, complaint bytes.Buffer
		code := exit.Run(done, root(), strings.Fields(line), &out, &complaint)
		if want := "blis: interrupted: context canceled\nhint: interrupted; nothing half-written was left\n"; code != exit.Refused || complaint.String() != want || out.Len() > 0 {
			t.Errorf("%s: got %d, %q, want %d, %q", line, code, complaint.String(), exit.Refused, want)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 4 {
		t.Errorf("left %v, want what was there", left)
	}
}

// canceler interrupts its own run.
type canceler struct {
	cancel func()
	last   des.Time
}

func (*canceler) Batch(sim.BatchRecord)     {}
func (*canceler) Request(sim.RequestRecord) {}

func (c *canceler) Instant(now des.Time, _ sim.Load) { c.cancel(); c.last = now }

func TestARunIsInterruptedInItsMiddle(t *testing.T) {
	dir := withFiles(t, map[string]string{"s.yaml": strings.Replace(chatScenario, "requests: 40", "requests: 4000", 1)})
	t.Chdir(dir)
	s, err := readScenario("s.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w, err := (&dataFlags{}).open("s.yaml")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c := &canceler{cancel: cancel}
	w.Observer = c
	if _, err := simulate(ctx, "s.yaml", s, w); !errors.Is(err, context.Canceled) || c.last > 50e6 {
		t.Errorf("got %v at %d us of 200e6, want an interruption at once", err, c.last)
	}
}

// Work that asks nobody, here a conversion that would never end, does not keep an interruption waiting.
func TestAConversionIsInterruptedInItsMiddle(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	forever := make(chan bool)
	defer close(forever)
	err := untilCanceled(ctx, func() error { cancel(); <-forever; return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want an interruption", err)
	}
}
