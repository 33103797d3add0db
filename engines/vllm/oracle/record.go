package oracle

// This file is the project's own: it writes what a replay saw.

import (
	"encoding/hex"
	"encoding/json"
	"sort"
	"strconv"

	"github.com/inference-sim/accuracy-dashboard/engines/vllm/kv"
	"github.com/inference-sim/accuracy-dashboard/engines/vllm/sched"
)

// object is a JSON object under construction; encoding/json sorts its keys.
type object map[string]any

func (o object) append(key string, v any) {
	list, _ := o[key].([]any)
	o[key] = append(list, v)
}

// digest is the recorder's digest of a value's canonical JSON.
func digest(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return shortDigest(data, 16)
}

// recordLaunch writes a schedule() call and the grammars its batch needs.
func (w *world) recordLaunch(step object, b *sched.Batch) {
	step["s"] = []any{w.recordBatch(b)}
	if ids := bitmask(b); ids != nil {
		step["bitmask"] = []any{ids}
	}
}

// recordBatch is the record of a schedule() call.
func (w *world) recordBatch(b *sched.Batch) object {
	rec := object{"n": b.Step, "tot": b.Tokens, "free": w.loop.Scheduler.Cache().Pool().Free()}
	blocks, drafts := object{}, object{}
	var running []any
	for i := range b.Entries {
		e := &b.Entries[i]
		item := []any{e.Request.Name, e.Tokens, e.Computed}
		switch e.Origin {
		case sched.FromWaiting:
			rec.append("new", item)
		case sched.FromPreempted:
			rec.append("res", item)
		default:
			running = append(running, item)
		}
		if table := w.recordTable(e); table != nil {
			blocks[e.Request.Name] = table
		}
		if e.Drafts > 0 {
			drafts[e.Request.Name] = e.Drafts
		}
	}
	w.recordRunning(rec, running)
	rec["blk"] = any(blocks)
	if w.compact {
		rec["blk"] = digest(blocks)
	}
	if len(drafts) > 0 {
		rec["spec"] = drafts
	}
	for _, v := range b.Preempted {
		rec.append("pre", []any{v.Request.Name, v.Computed})
		clear(v.Request.Owner.(*player).lengths)
	}
	w.recordEnds(rec, b)
	return rec
}

// recordRunning writes the running entries, in full or as a digest.
func (w *world) recordRunning(rec object, running []any) {
	if len(running) == 0 {
		return
	}
	if !w.compact {
		rec["run"] = running
		return
	}
	rec["nrun"], rec["rund"] = len(running), digest(running)
	for _, item := range running {
		if item.([]any)[1] != 1 {
			rec.append("run", item)
		}
	}
}

// recordTable is the whole block table of an admitted request and the new blocks of
// a running one, nil for none.
func (w *world) recordTable(e *sched.Entry) []any {
	p := e.Request.Owner.(*player)
	if e.Origin != sched.FromRunning {
		clear(p.lengths)
	}
	var out []any
	grown := e.Origin != sched.FromRunning
	for g := range w.loop.Scheduler.Cache().Config().Groups {
		table := p.Blocks(g)
		fresh := append([]kv.BlockID{}, table[min(p.lengths[g], len(table)):]...)
		grown = grown || len(fresh) > 0
		p.lengths[g] = len(table)
		out = append(out, fresh)
	}
	if !grown {
		return nil
	}
	return out
}

// recordEnds writes the finished ids and the common prefix of a batch.
func (w *world) recordEnds(rec object, b *sched.Batch) {
	if len(b.Finished) > 0 {
		names := make([]string, len(b.Finished))
		for i, r := range b.Finished {
			names[i] = r.Name
		}
		sort.Strings(names)
		rec["fin"] = names
	}
	s := w.loop.Scheduler
	if running := s.Running(); len(running) > 0 {
		if common, any := s.Cache().Common(&running[0].Sequence, nil); any {
			rec["cpb"] = common
		}
	}
}

// recordUpdate is the record of an update_from_output() call.
func (w *world) recordUpdate(b *sched.Batch, out *sched.Output) object {
	s := w.loop.Scheduler
	running, waiting, skipped := s.Counts()
	rec := object{"n": b.Step, "m": []any{running, waiting, skipped, round9(s.Cache().Pool().Usage())}}
	var list []any
	tokens := 0
	for _, e := range out.Events {
		list = append(list, []any{e.Request.Name, e.Tokens})
		tokens += e.Tokens
		if e.Finish != sched.NotFinished {
			rec.append("stop", []any{e.Request.Name, reasons[e.Finish], outputs(&e)})
		}
		if e.First {
			rec.append("prefill", []any{e.Request.Name, e.Request.Prompt, e.Request.Cached, e.Written})
		}
	}
	switch {
	case len(list) == 0:
	case w.compact:
		rec["nout"], rec["outd"] = []any{len(list), tokens}, digest(list)
	default:
		rec["out"] = list
	}
	if p := out.Prefix; p != (sched.PrefixStats{}) {
		rec["pc"] = []any{p.Requests, p.Queried, p.Hit, p.PreemptedRequests, p.PreemptedQueried, p.PreemptedHit}
	}
	if d := out.Drafts; d.Drafts > 0 {
		rec["sd"] = []any{d.Drafts, d.Tokens, d.Accepted, d.PerPosition}
	}
	return rec
}

// round9 rounds the exact value of v to nine places, ties to even.
func round9(v float64) json.Number { return json.Number(strconv.FormatFloat(v, 'f', 9, 64)) }

var reasons = map[sched.Finish]string{sched.Stopped: "stop", sched.Length: "length", sched.Errored: "error"}

// outputs is the output length at a stop; a request that ends outside its own step
// has none on record.
func outputs(e *sched.Event) any {
	if e.Tokens == 0 {
		return nil
	}
	return e.Request.Outputs()
}

// bitmask lists the structured requests that sample in a batch, nil for none.
func bitmask(b *sched.Batch) []any {
	var ids []any
	for i := range b.Entries {
		if e := &b.Entries[i]; e.Samples && e.Request.Grammar != nil {
			ids = append(ids, e.Request.Name)
		}
	}
	return ids
}

// recordState is the state after an iteration; events are published by an update.
func (w *world) recordState(updated bool) object {
	s := w.loop.Scheduler
	pool := s.Cache().Pool()
	waiting, skipped := s.Waiting(nil, nil)
	run, wait, skip := names(s.Running()), names(waiting), names(skipped)
	free := pool.FreeOrder(nil)
	refs := []int{}
	for id := 1; id <= pool.Usable(); id++ {
		refs = append(refs, pool.Refs(kv.BlockID(id)))
	}
	rec := object{"free": pool.Free(), "cached": pool.Cached(), "d": digest([]any{run, wait, skip, ids(free), refs})}
	if w.compact {
		rec["q"] = []any{len(run), len(wait), len(skip)}
	} else {
		rec["run"], rec["wait"] = run, wait
		if len(skip) > 0 {
			rec["skip"] = skip
		}
		for _, r := range skipped {
			if r.Blocked != sched.Admissible {
				rec.append("blocked", []any{r.Name, blocks[r.Blocked]})
			}
		}
		if w.config.Throttle {
			rec["cap_bound"] = s.LeftWaiting()
		}
		rec["head"], rec["tail"] = ids(free[:min(6, len(free))]), ids(free[max(0, len(free)-3):])
	}
	if !updated {
		return rec
	}
	if ev := w.events.take(); len(ev) > 0 {
		rec["ev"] = ev
		if w.compact {
			rec["ev"] = []any{len(ev), digest(ev)}
		}
	}
	return rec
}

var blocks = map[sched.Block]string{sched.AwaitsGrammar: "WAITING_FOR_STRUCTURED_OUTPUT_GRAMMAR", sched.AwaitsChunk: "WAITING_FOR_STREAMING_REQ"}

func names(list []*sched.Request) []string {
	out := make([]string, len(list))
	for i, r := range list {
		out[i] = r.Name
	}
	return out
}

func ids(list []kv.BlockID) []kv.BlockID { return append([]kv.BlockID{}, list...) }

// final is the state after the last iteration.
func (w *world) final() object {
	pool := w.loop.Scheduler.Cache().Pool()
	unfinished := []string{}
	for _, p := range w.requests {
		if p.added && p.Status != sched.Finished {
			unfinished = append(unfinished, p.Name)
		}
	}
	sort.Strings(unfinished)
	free := ids(pool.FreeOrder(nil))
	final := object{"cached": pool.Cached(), "unfinished": unfinished, "free_order": free}
	if pool.Usable()+1 > 400 {
		final["free_order"] = digest(free)
	}
	if w.second {
		final["off"] = nil
	}
	return final
}

// resolved is what start-up resolved.
func (w *world) resolved() object {
	s := w.loop.Scheduler
	c, cache := s.Config(), s.Cache().Config()
	out := object{"batch_queue_size": w.loop.Depth(), "scheduler_class": "Scheduler", "step_fn": "step",
		"hash_block_size": cache.HashBlockSize, "scheduler_block_size": cache.BlockSize,
		"max_in_flight_tokens": c.MaxInFlightTokens(), "num_gpu_blocks": cache.NumBlocks,
		"num_lookahead_tokens": c.Speculative.Lookahead(), "coordinator": s.Cache().Coordinator()}
	if w.second {
		out["defer_block_free"], out["requires_kv_delivery"] = false, false
		out["num_prefill_lookahead"] = c.Speculative.PrefillLookahead()
		if lookup := s.DraftsByRequests(); lookup != nil {
			out["dynamic_sd_lookup"] = lookup
		}
	} else {
		out["max_num_scheduled_tokens"], out["watermark_blocks"] = s.Budget(), s.Cache().WatermarkBlocks()
	}
	if c.Async {
		out["scheduler_class"] = "AsyncScheduler"
	}
	if w.loop.Depth() > 1 {
		out["step_fn"] = "step_with_batch_queue"
	}
	for i := range cache.Groups {
		g := &cache.Groups[i]
		out.append("groups", []any{g.Manager(), g.BlockSize, optional(g.SlidingWindow()), optional(g.AdmissionCap(c.MaxModelLen, c.MaxInFlightTokens()))})
	}
	return out
}

func optional(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

// recorder keeps cache events in the recorder's notation.
type recorder struct {
	world  *world
	events []any
}

func (r *recorder) take() []any {
	ev := r.events
	r.events = nil
	return ev
}

func (r *recorder) hash(h kv.BlockHash) any {
	if h == 0 {
		return nil
	}
	d := r.world.interner.Digest(h)
	if r.world.config.IntBlockHashes {
		return hex.EncodeToString(d[len(d)-8:])
	}
	return hex.EncodeToString(d[:])
}

// Stored records a BlockStored event.
func (r *recorder) Stored(s *kv.Stored) {
	hashes := []any{}
	for _, h := range s.Hashes {
		hashes = append(hashes, r.hash(h))
	}
	tokens := s.Sequence.Hashes.(*content).upTo(s.To)[s.From:]
	r.events = append(r.events, []any{"S", hashes, r.hash(s.Parent), len(tokens), tokenDigest(tokens), s.BlockSize,
		s.Group, s.Spec.Event(), optional(s.Spec.SlidingWindow()), "GPU"})
}

// Removed records a BlockRemoved event.
func (r *recorder) Removed(h kv.BlockHash, group int) {
	r.events = append(r.events, []any{"R", []any{r.hash(h)}, group, "GPU"})
}

// Cleared records an AllBlocksCleared event.
func (r *recorder) Cleared() { r.events = append(r.events, []any{"C"}) }
