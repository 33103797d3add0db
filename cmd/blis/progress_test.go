package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/inference-sim/accuracy-dashboard/sim"
)

// Away from a terminal progress is whole lines, seconds apart, and only when asked for.
func TestProgressWritesOverItselfOnATerminalOnly(t *testing.T) {
	for _, c := range []struct {
		live, terminal bool
		want           string
	}{
		{false, false, ""},
		{true, false, "1.0 s simulated, 0/9 requests\n"},
		{true, true, clearLine + "1.0 s simulated, 0/9 requests" + clearLine},
	} {
		var to bytes.Buffer
		p := newProgress(&to, c.live, 9)
		p.terminal = p.terminal || c.terminal
		p.show(1e6, sim.Load{})
		p.show(1e6, sim.Load{}) // too soon
		p.clear()
		if got := to.String(); got != c.want {
			t.Errorf("live %v, terminal %v: got %q, want %q", c.live, c.terminal, got, c.want)
		}
	}
	var to bytes.Buffer
	p := newProgress(&to, true, 9)
	p.show(1e6, sim.Load{})
	p.shown = p.shown.Add(-newLineEvery)
	if p.show(2e6, sim.Load{}); strings.Count(to.String(), "\n") != 2 || time.Since(p.shown) > newLineEvery {
		t.Errorf("after %v: got %q", newLineEvery, to.String())
	}
}
