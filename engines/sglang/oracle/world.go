package oracle

// This file is the project's own: it replays recordings.

import (
	"math"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/sglang/kv"
	"github.com/inference-sim/accuracy-dashboard/engines/sglang/sched"
)

// object is a JSON object under construction; encoding/json sorts its keys.
type object map[string]any

// add appends to the list under key.
func (o object) add(key string, v any) {
	list, _ := o[key].([]any)
	o[key] = append(list, v)
}

// world drives a scheduler through a scenario, iteration by iteration, and writes
// down what the recorder wrote down.
type world struct {
	s       *scenario
	config  sched.Config
	sched   *sched.Scheduler
	loop    *sched.Loop
	prompts map[string][]engines.Segment
	step    object // of the iteration under way
	adder   object
	pending int // arrivals and aborts still to come
}

func newWorld(s *scenario) (*world, error) {
	c, err := s.schedConfig()
	if err != nil {
		return nil, err
	}
	policy, err := kv.ParsePolicy(s.Config.Eviction)
	if err != nil {
		return nil, err
	}
	w := &world{s: s, config: c, pending: len(s.Requests) + len(s.Aborts)}
	if w.prompts, err = s.prompts(); err != nil {
		return nil, err
	}
	var events *kv.Events
	var tree *kv.Tree
	if !s.Config.DisableRadix {
		if s.Config.KVEvents == nil || *s.Config.KVEvents {
			events = kv.NewEvents(func(stream uint64, at int) uint32 { return uint32(stream) + uint32(at) })
		}
		tree = kv.NewTree(c.PageSize, policy, events)
	}
	cache := kv.NewCache(c.TotalTokens, c.PageSize, tree)
	cache.OnEvict = func(tokens int) { w.step.add("evicted", tokens) }
	w.sched = sched.New(c, cache, events, w)
	w.loop = sched.NewLoop(w.sched)
	return w, nil
}

// run plays iterations until nothing is left for two idle ones, or to the limit.
func (w *world) run() []any {
	var steps []any
	var log collapsed
	for it, idle := 0, 0; it < w.s.MaxIterations && idle < 2; it++ {
		if w.iterate(it) && w.pending == 0 && w.idle() {
			idle++
		} else {
			idle = 0
		}
		if w.compact() {
			log.add(w.step)
		} else {
			steps = append(steps, w.step)
		}
	}
	if w.compact() {
		return log.steps
	}
	return steps
}

func (w *world) compact() bool { return w.s.Detail == "compact" }

func (w *world) idle() bool {
	return len(w.sched.Waiting()) == 0 && len(w.sched.Running().Reqs) == 0 && w.sched.Chunked() == nil && w.loop.InFlight() == 0
}

// iterate is one turn of the event loop; it says whether the turn was idle.
func (w *world) iterate(it int) (idle bool) {
	w.step, w.adder = object{"it": it}, nil
	w.receive(it)
	l := w.loop.Turn()
	w.recordSchedule(l)
	switch {
	case w.loop.Waits():
		if o := w.loop.Oldest(); w.config.Overlap && !w.compact() {
			w.step.add("processed", object{"mode": modeName(o.Mode), "reqs": rids(o.Reqs)})
		}
		w.loop.Settle()
	case l == nil:
		idle = true
		w.loop.Rest()
	}
	w.recordEnd()
	return idle
}

// receive hands over the requests and aborts of this iteration.
func (w *world) receive(it int) {
	for i := range w.s.Requests {
		if r := &w.s.Requests[i]; r.Arrive == it {
			w.pending--
			if !w.compact() {
				w.step.add("arrived", r.RID)
			}
			w.sched.Receive(w.s.req(r, w.prompts[r.RID]))
		}
	}
	for _, a := range w.s.Aborts {
		if a.At == it {
			w.pending--
			w.sched.Abort(func(r *sched.Req) bool { return a.All || strings.HasPrefix(r.Name, a.RID) })
		}
	}
}

func rids(reqs []*sched.Req) []any {
	out := make([]any, len(reqs))
	for i, r := range reqs {
		out[i] = r.Name
	}
	return out
}

func modeName(m sched.Mode) string { return [...]string{"extend", "decode", "mixed"}[m] }

// round9 rounds to nine decimals, as the recorder does.
func round9(v float64) float64 { return math.Round(v*1e9) / 1e9 }
