package oracle

// This file is the project's own: it writes what a replay saw.

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/sglang/kv"
	"github.com/inference-sim/accuracy-dashboard/engines/sglang/sched"
)

// recordSchedule writes the state after a batch was formed.
func (w *world) recordSchedule(b *sched.Launch) {
	s, st := w.sched, w.step
	st["mode"] = "none"
	if b != nil {
		st["mode"] = modeName(b.Mode)
		w.recordReqs(b)
	}
	if c := s.Chunked(); c != nil {
		st["chunked"] = c.Name
	}
	st["waiting"], st["running"] = len(s.Waiting()), len(s.Running().Reqs)
	if w.compact() {
		if s.Running().Full {
			st["full"] = true
		}
		return
	}
	st["full"] = s.Running().Full
	if q := s.Waiting(); len(q) > 0 {
		st["queue"] = rids(q[:min(12, len(q))])
	}
	if w.adder != nil {
		st["adder"] = w.adder
	}
	st["ratio"], st["avail_sched"], st["evictable_sched"] = round9(s.Ratio()), s.Cache().Free(), s.Cache().Evictable()
}

func (w *world) recordReqs(b *sched.Launch) {
	var list []any
	if b.Mode == sched.Decode {
		var flat []string
		for _, r := range b.Reqs {
			list = append(list, []any{r.Name, r.Committed()})
			flat = append(flat, fmt.Sprintf("%s:%d", r.Name, r.Committed()))
		}
		if w.compact() {
			w.step["n"], w.step["reqs_sha"] = len(b.Reqs), digest(strings.Join(flat, ","), 10)
			return
		}
		w.step["reqs"] = list
		return
	}
	for i, r := range b.Reqs {
		if w.compact() {
			list = append(list, fmt.Sprintf("%s:%d+%d", r.Name, b.Prefix[i], b.Tokens[i]))
		} else {
			list = append(list, []any{r.Name, b.Prefix[i], b.Tokens[i]})
		}
	}
	w.step["reqs"] = list
}

// recordEnd writes the state at the end of the iteration.
func (w *world) recordEnd() {
	s, st := w.sched, w.step
	st["avail"], st["evictable"], st["end_ratio"] = s.Cache().Free(), s.Cache().Evictable(), round9(s.Ratio())
	if !w.compact() {
		st["protected"], st["free_slots"] = s.Cache().Protected(), s.Slots()
	}
}

// Filling notes an adder's budgets.
func (w *world) Filling(a *sched.Adder) {
	w.adder = object{
		"rem_total_tokens0": int(a.RemTotal()), "cur_rem_tokens0": a.CurRem(),
		"rem_input0": a.RemInput, "rem_chunk0": chunkBudget(a),
	}
}

// Tried notes an adder's answer.
func (w *world) Tried(a *sched.Adder, r *sched.Req, v sched.Verdict, chunked, admitted bool) {
	verdict, added, hit := v.String(), 0, r.Hit()
	if chunked {
		verdict, hit = "CHUNKED", r.Prefix()
	}
	if admitted {
		added = 1
	}
	w.adder.add("tries", []any{r.Name, verdict, hit, added, int(a.RemTotal()), a.RemInput, chunkBudget(a)})
}

func chunkBudget(a *sched.Adder) any {
	if a.Chunking() {
		return a.RemChunk
	}
	return nil
}

// Retracted notes the requests sent back to the queue.
func (w *world) Retracted(victims []*sched.Req, ratio float64) {
	w.step["retracted"], w.step["retract_ratio"] = rids(victims), round9(ratio)
}

// Preempted notes the requests that made room for a more urgent one.
func (w *world) Preempted(victims []*sched.Req) { w.step["preempted"] = rids(victims) }

// Aborted notes a request that ended without a result.
func (w *world) Aborted(r *sched.Req, why string) {
	var message any
	if why != "" {
		message = why
	}
	w.step.add("aborts", []any{r.Name, message})
}

// Steady concerns requests that go on: nothing of them is recorded.
func (w *world) Steady(int) {}

// Emitted notes a request that finished at a result.
func (w *world) Emitted(r *sched.Req) {
	if r.Finish == engines.NotFinished {
		return
	}
	reason := map[engines.Finish]string{engines.Stopped: "stop", engines.Length: "length", engines.Aborted: "abort"}[r.Finish]
	w.step.add("finished", []any{r.Name, r.Outputs(), reason})
}

// Published notes one batch of KV events.
func (w *world) Published(events []kv.Event) {
	if w.compact() {
		w.step.add("kv", compactEvents(events))
		return
	}
	var list []any
	for _, e := range events {
		list = append(list, w.event(e))
	}
	w.step.add("kv", list)
}

// fullHashes is the longest list of hashes written out in full.
const fullHashes = 64

func (w *world) event(e kv.Event) object {
	o := object{"type": string(e.Type)}
	if e.Type == kv.Cleared {
		return o
	}
	o["medium"] = "GPU"
	if w.s.KVFull && len(e.Hashes) <= fullHashes {
		o["hashes"] = e.Hashes
	} else {
		o["n"], o["first"], o["last"], o["sha"] = len(e.Hashes), e.Hashes[0], e.Hashes[len(e.Hashes)-1], digest(joined(e.Hashes), 16)
	}
	if e.Type == kv.Removed {
		return o
	}
	if e.Parent != nil {
		o["parent"] = *e.Parent
	}
	o["n_tokens"], o["first_tokens"], o["block_size"] = len(e.Tokens), e.Tokens[:min(2, len(e.Tokens))], e.Block
	if e.Salt != "" {
		o["type"], o["metadata"] = "BlockStoredWithMetadata", fmt.Sprintf("BlockStoredMetadata(cache_salt='%s')", e.Salt)
	}
	return o
}

// compactEvents is [events, blocks stored, blocks removed, digest of all].
func compactEvents(events []kv.Event) []any {
	stored, removed := 0, 0
	var text []string
	for _, e := range events {
		parent, sha := "None", "None"
		if e.Parent != nil {
			parent = strconv.FormatInt(*e.Parent, 10)
		}
		switch e.Type {
		case kv.Stored:
			stored += len(e.Hashes)
		case kv.Removed:
			removed += len(e.Hashes)
		}
		if len(e.Hashes) > 0 {
			sha = digest(joined(e.Hashes), 16)
		}
		text = append(text, fmt.Sprintf("%s:%s:%d:%s", e.Type, parent, len(e.Hashes), sha))
	}
	return []any{len(events), stored, removed, digest(strings.Join(text, ";"), 10)}
}

func joined(hashes []int64) string {
	out := make([]string, len(hashes))
	for i, h := range hashes {
		out[i] = strconv.FormatInt(h, 10)
	}
	return strings.Join(out, ",")
}

func digest(text string, hexDigits int) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:hexDigits]
}

// collapsed folds runs of quiet and alike steps into their last, with the length of
// the run.
type collapsed struct {
	steps []any
	quiet int // length of the run the last step stands for; 0 when it is not quiet
}

func (c *collapsed) add(step object) {
	if !quiet(step) {
		c.steps, c.quiet = append(c.steps, step), 0
		return
	}
	if c.quiet > 0 && alike(c.steps[len(c.steps)-1].(object), step) {
		c.quiet++
		step["rep"] = c.quiet
		c.steps[len(c.steps)-1] = step
		return
	}
	c.steps, c.quiet = append(c.steps, step), 1
}

// alike steps have the same mode, queue and batch sizes.
func alike(a, b object) bool {
	for _, key := range [...]string{"mode", "n", "waiting", "running"} {
		if a[key] != b[key] {
			return false
		}
	}
	return true
}

// quiet steps decode or idle and nothing else happens in them.
func quiet(step object) bool {
	if m := step["mode"]; m != "decode" && m != "none" {
		return false
	}
	for _, key := range [...]string{"finished", "aborts", "retracted", "evicted", "kv", "chunked", "preempted"} {
		if _, loud := step[key]; loud {
			return false
		}
	}
	return true
}
