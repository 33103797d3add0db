package oracle

// This file is the project's own: it replays recordings.

import (
	"encoding/json"

	"github.com/inference-sim/accuracy-dashboard/engines/vllm/sched"
)

// operate does one operation and returns its record: the operation, its arguments
// and its result.
func (w *world) operate(o *op) []any {
	rec := []any{o.name}
	for _, a := range o.args {
		rec = append(rec, a)
	}
	s := w.loop.Scheduler
	switch o.name {
	case "pause":
		w.pause(o.word(0), o.flag(1))
	case "pause_state":
		s.Pause(map[string]sched.PauseState{"PAUSED_NEW": sched.PausedNew, "PAUSED_ALL": sched.PausedAll}[o.word(0)])
	case "resume":
		s.Pause(sched.Unpaused)
	case "reset":
		if o.flag(0) {
			return append(rec, s.ResetRunning())
		}
		return append(rec, s.ResetPrefixCache())
	case "counts":
		running, waiting, skipped := s.Counts()
		return append(rec, []any{[]any{running, waiting + skipped}, s.Unfinished(), s.HasWork()})
	case "stream":
		w.stream(o)
	default:
		return append(rec, "not modelled")
	}
	return append(rec, nil)
}

// pause stops everything; mode abort ends what is unfinished first.
func (w *world) pause(mode string, clear bool) {
	s := w.loop.Scheduler
	if mode == "abort" {
		for _, p := range w.requests {
			w.abort(p)
		}
	}
	s.Pause(sched.PausedAll)
	if clear {
		s.ResetRunning()
	}
}

// stream hands a session its next chunk: id, prompt, max_tokens, resumable.
func (w *world) stream(o *op) {
	p := w.byName[o.word(0)]
	var prompt []segment
	if p == nil || len(o.args) < 4 || json.Unmarshal(o.args[1], &prompt) != nil {
		return
	}
	n := 0
	for _, g := range prompt {
		n += g.count
	}
	w.loop.Scheduler.Stream(&p.Request, sched.Chunk{Tokens: n, Last: !o.flag(3), Extend: func() {
		p.content.upTo(p.Tokens)
		p.content.tokens = p.content.tokens[:p.Tokens]
		p.content.append(prompt)
	}})
}

func (o *op) word(i int) (s string) {
	if i < len(o.args) && json.Unmarshal(o.args[i], &s) != nil {
		return ""
	}
	return s
}

func (o *op) flag(i int) (b bool) {
	return i < len(o.args) && json.Unmarshal(o.args[i], &b) == nil && b
}
