package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/inference-sim/accuracy-dashboard/sim"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
)

// progress is one line on a terminal, written over: once a second has passed, or as
// a live view when asked for. Where it goes to no terminal it is a line every few
// seconds, and only when asked for.
type progress struct {
	to             io.Writer
	live, terminal bool
	began, shown   time.Time
	goal           int64
	running, queue int
	kv             float64
	ttft, tpot     float64
	n, tokens      int64
}

func (p *progress) batch(b *sim.BatchRecord) {
	p.running, p.queue, p.kv = b.Running, b.Waiting, b.KVUsage
}

func (p *progress) request(r *sim.RequestRecord) {
	if r.Fate != "completed" {
		return
	}
	p.n++
	p.ttft += float64(r.First-r.Sent) / 1e6
	if r.Output > 1 {
		p.tokens += int64(r.Output - 1)
		p.tpot += float64(r.Last-r.First) / 1e6
	}
}

const (
	clearLine    = "\r\x1b[K"
	redrawEvery  = 100 * time.Millisecond
	newLineEvery = 5 * time.Second
)

func newProgress(to io.Writer, live bool, goal int64) *progress {
	p := &progress{to: to, live: live, began: time.Now(), goal: goal}
	if f, ok := to.(*os.File); ok {
		i, err := f.Stat()
		p.terminal = err == nil && i.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// due is whether a line is to be written at t.
func (p *progress) due(t time.Time) bool {
	if !p.terminal {
		return p.live && t.Sub(p.shown) >= newLineEvery
	}
	return (p.live || t.Sub(p.began) >= time.Second) && t.Sub(p.shown) >= redrawEvery
}

func (p *progress) show(now des.Time, l sim.Load) {
	p.write(func() string {
		done := fmt.Sprint(l.Completed)
		if p.goal > 0 {
			done = fmt.Sprintf("%d/%d", l.Completed, p.goal)
		}
		line := fmt.Sprintf("%.1f s simulated, %s requests", float64(now)/1e6, done)
		if p.live && p.n > 0 {
			line += fmt.Sprintf(", %d outstanding, batch %d, queue %d, KV %.0f%%, TTFT %.0f ms, TPOT %.1f ms", l.Outstanding, p.running, p.queue, 100*p.kv,
				1e3*p.ttft/float64(p.n), 1e3*p.tpot/float64(max(1, p.tokens)))
		}
		return line
	})
}

// write shows a line when one is due.
func (p *progress) write(line func() string) {
	t := time.Now()
	if !p.due(t) {
		return
	}
	p.shown = t
	if p.terminal {
		fmt.Fprint(p.to, clearLine+line())
		return
	}
	fmt.Fprintln(p.to, line())
}

func (p *progress) clear() {
	if p.terminal && !p.shown.IsZero() {
		fmt.Fprint(p.to, clearLine)
	}
}
