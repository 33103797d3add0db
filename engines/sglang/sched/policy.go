package sched

import (
	"math"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/engines/sglang/kv"
)

// order sorts the waiting queue in place, as policy and length of the queue ask
// (schedule_policy.py SchedulePolicy.calc_priority). Ties keep their order.
func (s *Scheduler) order() {
	p := s.c.Policy
	if (p == LPM || p == DFSWeight) && s.cache.Tree == nil {
		p = FCFS
	}
	if p == LPM && len(s.waiting) > lpmQueueLimit {
		p = FCFS
	}
	switch p {
	case FCFS:
		if s.c.Priorities {
			s.byPriority(func(r *Req) int { return int(r.entered) })
		}
	case LOF:
		if s.c.Priorities {
			s.byPriority(func(r *Req) int { return -r.MaxNew })
			return
		}
		slices.SortStableFunc(s.waiting, func(a, b *Req) int { return b.MaxNew - a.MaxNew })
	case Random:
		s.random.shuffle(len(s.waiting), func(i, j int) { s.waiting[i], s.waiting[j] = s.waiting[j], s.waiting[i] })
	case LPM:
		s.matchAll()
		slices.SortStableFunc(s.waiting, func(a, b *Req) int { return b.matched - a.matched })
	case DFSWeight:
		s.matchAll()
		s.byWeight()
	}
}

func (s *Scheduler) byPriority(then func(*Req) int) {
	slices.SortStableFunc(s.waiting, func(a, b *Req) int {
		if d := s.urgency(a) - s.urgency(b); d != 0 {
			return d
		}
		return then(a) - then(b)
	})
}

// matchAll finds every waiting request's cached prefix. A request whose prefix is
// short but shared with one before it in the queue comes last in this pass: the
// first of them will have put it into the cache by the next.
func (s *Scheduler) matchAll() {
	queue := kv.NewTree(1, kv.LRU, nil)
	for _, r := range s.waiting {
		key := r.key(r.length())
		s.cache.Match(&r.hold, key)
		found := r.hold.Prefix
		r.matched = min(found, r.length()-1)
		if found > s.c.InBatchCheck {
			continue
		}
		if shared, _ := queue.Match(key); shared >= s.c.InBatchDefer {
			r.matched = math.MinInt / 2
		} else {
			queue.Insert(key, 0, false)
		}
	}
}

// byWeight visits the tree depth first, the subtree with most waiting requests
// first, and serves a node's own requests after its children's.
func (s *Scheduler) byWeight() {
	own := map[*kv.Node][]*Req{}
	for _, r := range s.waiting {
		own[r.hold.Node()] = append(own[r.hold.Node()], r)
	}
	s.waiting = s.waiting[:0]
	s.cache.Tree.ByWeight(func(n *kv.Node) int { return len(own[n]) }, func(n *kv.Node) {
		s.waiting = append(s.waiting, own[n]...)
	})
}
