package des

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// node is a component of a random network: it forwards each message it gets to
// a peer after a delay, and logs every transition with what it saw.
type node struct {
	id, peers ID
	rng       *rand.Rand
	pending   []Time
	log       []string
	left      int
	outClass  Class
}

func (n *node) Next() Time {
	if len(n.pending) == 0 {
		return Never
	}
	return slices.Min(n.pending)
}

func (n *node) Output(now Time, out *Outbox[int]) {
	for i, t := range n.pending {
		if t == now {
			out.Send(ID(int(n.id)*7+i+int(now))%n.peers, n.outClass, int(now)*100+i)
		}
	}
}

func (n *node) Internal(now Time) {
	n.pending = slices.DeleteFunc(n.pending, func(t Time) bool { return t == now })
	n.log = append(n.log, fmt.Sprintf("%d int", now))
}

func (n *node) External(now Time, bag []Message[int]) {
	for _, m := range bag {
		n.log = append(n.log, fmt.Sprintf("%d ext %d %d %d %d", now, m.Class, m.Sender, m.Count, m.Body))
		if n.left--; n.left > 0 {
			n.pending = append(n.pending, now+Time(n.rng.IntN(4))) // zero often: same-instant rounds
		}
	}
}

func (n *node) Confluent(now Time, bag []Message[int]) {
	n.Internal(now)
	n.External(now, bag)
}

func network(t *testing.T, opts ...Option) string {
	t.Helper()
	k := New[int](opts...)
	const size = 12
	nodes := make([]*node, size)
	for i := range nodes {
		nodes[i] = &node{id: ID(i), peers: size, rng: rand.New(rand.NewPCG(1, uint64(i))), pending: []Time{Time(i % 3)}, left: 200, outClass: Class(i % 2)}
		k.Add(fmt.Sprint("node ", i), nodes[i], 50)
	}
	if err := k.Start(); err != nil {
		t.Fatal(err)
	}
	for range 20000 {
		if k.Next() == Never {
			break
		}
		if err := k.Round(); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	for _, n := range nodes {
		fmt.Fprintln(&b, n.id, n.log)
	}
	tr, ms := k.Counts()
	fmt.Fprintln(&b, tr, ms)
	return b.String()
}

func TestQueuesGiveOneResult(t *testing.T) {
	keep.Rule(t, "DEV-2")
	if tree, calendar := network(t), network(t, WithQueue(NewCalendar())); tree != calendar {
		t.Error("a tournament and a calendar queue gave different runs")
	}
}

func TestOrderOfOneInstantDoesNotMatter(t *testing.T) {
	keep.Rule(t, "DEV-2", "RTR-7")
	want := network(t)
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(2, seed))
		got := network(t, WithOrder(func(ids []ID) { r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] }) }))
		if got != want {
			t.Fatalf("seed %d: visiting components in another order changed the run", seed)
		}
	}
}

// echo answers every message at once: a zero-time cycle with no bound.
type echo struct {
	to   ID
	busy bool
}

func (e *echo) Next() Time {
	if e.busy {
		return 5
	}
	return Never
}
func (e *echo) Output(_ Time, out *Outbox[int])    { out.Send(e.to, 0, 0) }
func (e *echo) Internal(Time)                      { e.busy = false }
func (e *echo) External(Time, []Message[int])      { e.busy = true }
func (e *echo) Confluent(_ Time, _ []Message[int]) {}

func TestZeroTimeCycleIsCaught(t *testing.T) {
	keep.Rule(t, "DEV-5")
	k := New[int]()
	k.Add("ping", &echo{to: 1, busy: true}, 10)
	k.Add("pong", &echo{to: 0}, 10)
	if err := k.Start(); err != nil {
		t.Fatal(err)
	}
	var err error
	for range 100 {
		if err = k.Round(); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "declared bound is 10") {
		t.Errorf("got %v, want the bound named", err)
	}
}

func TestEqualKeysAreADefect(t *testing.T) {
	keep.Rule(t, "DEV-2")
	bag := []Message[int]{{Class: 1, Sender: 2, Count: 3}, {Class: 1, Sender: 2, Count: 3}}
	if err := sortBag(bag); err == nil {
		t.Error("two messages with one key were accepted")
	}
	bag[1].Count = 4
	if err := sortBag(bag); err != nil {
		t.Errorf("distinct keys: got %v", err)
	}
}

// TestABagIsOrderedByClassSenderAndCount takes each part of the key in its turn: a later
// part decides only where the earlier ones agree.
func TestABagIsOrderedByClassSenderAndCount(t *testing.T) {
	keep.Rule(t, "DEV-2")
	ordered := []Message[int]{{Class: 0, Sender: 2, Count: 3}, {Class: 1, Sender: 0, Count: 2}, {Class: 1, Sender: 1, Count: 0}, {Class: 1, Sender: 1, Count: 1}, {Class: 2, Sender: 0, Count: 0}}
	for i := range ordered {
		for j := range i {
			bag := []Message[int]{ordered[i], ordered[j]}
			if err := sortBag(bag); err != nil || bag[0] != ordered[j] {
				t.Errorf("got %+v first, %v, want %+v", bag[0], err, ordered[j])
			}
		}
	}
}

// late wants an event in the past after its first.
type late struct{ next Time }

func (l *late) Next() Time                         { return l.next }
func (l *late) Output(Time, *Outbox[int])          {}
func (l *late) Internal(now Time)                  { l.next = now - 1 }
func (l *late) External(Time, []Message[int])      {}
func (l *late) Confluent(_ Time, _ []Message[int]) {}

func TestEventInThePastIsADefect(t *testing.T) {
	keep.Rule(t, "DEV-5")
	k := New[int]()
	k.Add("late", &late{next: 3}, 1)
	if err := k.Start(); err != nil {
		t.Fatal(err)
	}
	if err := k.Round(); err == nil || !strings.Contains(err.Error(), "in the past") {
		t.Errorf("got %v", err)
	}
}

// Both queues against the list of every component's event.
func TestQueuesKeepTheEarliestEvent(t *testing.T) {
	for _, q := range []Queue{NewTournament(), NewCalendar()} {
		r := rand.New(rand.NewPCG(4, 4))
		events := map[ID]Time{}
		now := Time(0)
		for i := range 20000 {
			id := ID(r.IntN(1 + i/300))
			if at, first := q.Min(); at != Never && r.IntN(100) < 45 {
				now, id = at, first
				delete(events, id)
				q.Set(id, Never)
			} else {
				events[id] = now + Time(r.IntN(1+r.IntN(1000)))
				q.Set(id, events[id])
			}
			want := Never
			for _, t := range events {
				want = min(want, t)
			}
			at, first := q.Min()
			if at != want || at != Never && events[first] != at {
				t.Fatalf("%T: got %d of component %d, want %d", q, at, first, want)
			}
		}
	}
}

func TestBoardShowsOnlyWhatTheDelayAllows(t *testing.T) {
	keep.Rule(t, "DEV-1", "DEV-4")
	b := NewBoard[string](10)
	b.Publish(0, "a")
	b.Publish(5, "b")
	for _, c := range []struct {
		now  Time
		want string
		seq  uint64
	}{{9, "", 0}, {10, "a", 1}, {14, "a", 1}, {15, "b", 2}} {
		if got := b.Observe(c.now); got.Value != c.want || got.Sequence != c.seq {
			t.Errorf("at %d: got %+v, want %q, %d", c.now, got, c.want, c.seq)
		}
	}
}

func BenchmarkHold(b *testing.B) {
	for _, n := range []int{4, 256} {
		for name, q := range map[string]Queue{"tournament": NewTournament(), "calendar": NewCalendar()} {
			b.Run(fmt.Sprint(name, "/", n), func(b *testing.B) {
				b.ReportAllocs()
				r := rand.New(rand.NewPCG(1, 1))
				for i := range n {
					q.Set(ID(i), Time(r.IntN(1000)))
				}
				for b.Loop() {
					at, id := q.Min()
					q.Set(id, Never)
					q.Set(id, at+Time(r.IntN(1000)))
				}
			})
		}
	}
}
