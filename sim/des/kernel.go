package des

import "fmt"

// Kernel runs one coupled model.
type Kernel[M any] struct {
	slots    []slot[M]
	queue    Queue
	order    func([]ID)
	now      Time
	imminent []ID
	out      Outbox[M]
	// receivers are the components with a non-empty bag, each once.
	receivers             []ID
	transitions, messages int64
}

// slot is what the kernel keeps of a component.
type slot[M any] struct {
	component Component[M]
	name      string
	bag       []Message[M]
	sent      uint64
	next      Time // of its event in the queue
	bound     int  // transitions allowed at one instant
	repeats   int  // transitions made at instant last
	last      Time
	due       bool // its internal event falls in this round
}

// Option changes how a kernel works, never what it computes.
type Option func(q *Queue, order *func([]ID))

// WithQueue uses q, which must be empty.
func WithQueue(q Queue) Option { return func(dst *Queue, _ *func([]ID)) { *dst = q } }

// WithOrder permutes the components of each phase by f; for tests.
func WithOrder(f func([]ID)) Option { return func(_ *Queue, dst *func([]ID)) { *dst = f } }

// New returns an empty model.
func New[M any](opts ...Option) *Kernel[M] {
	k := &Kernel[M]{queue: NewTournament()}
	for _, o := range opts {
		o(&k.queue, &k.order)
	}
	k.out.kernel = k
	return k
}

// Add puts a component into the model. bound is the most transitions it may make
// at one instant: the declared bound of every zero-time cycle through it.
func (k *Kernel[M]) Add(name string, c Component[M], bound int) ID {
	id := ID(len(k.slots))
	k.slots = append(k.slots, slot[M]{component: c, name: name, bound: bound, next: Never, last: -1})
	return id
}

// Start asks every component for its first event. It is called once, after the
// last Add.
func (k *Kernel[M]) Start() error {
	for i := range k.slots {
		if err := k.schedule(ID(i)); err != nil {
			return err
		}
	}
	return nil
}

// Now is the instant of the last round.
func (k *Kernel[M]) Now() Time { return k.now }

// Counts are the transitions made and the messages sent so far.
func (k *Kernel[M]) Counts() (transitions, messages int64) { return k.transitions, k.messages }

// Next is the time of the next event, or Never.
func (k *Kernel[M]) Next() Time {
	t, _ := k.queue.Min()
	return t
}

// Round processes one round of the next instant. The model must have an event.
func (k *Kernel[M]) Round() error {
	now := k.Next()
	if now == Never {
		return fmt.Errorf("des: no event is left")
	}
	k.now = now
	k.collect(now)
	for _, id := range k.imminent {
		k.out.from = id
		k.slots[id].component.Output(now, &k.out)
	}
	for _, id := range k.receivers {
		if !k.slots[id].due {
			k.imminent = append(k.imminent, id)
		}
	}
	k.receivers = k.receivers[:0]
	k.arrange(k.imminent)
	for _, id := range k.imminent {
		if err := k.transition(id, now); err != nil {
			return err
		}
	}
	return nil
}

// collect takes every event of the instant from the queue.
func (k *Kernel[M]) collect(now Time) {
	k.imminent = k.imminent[:0]
	for at, id := k.queue.Min(); at == now; at, id = k.queue.Min() {
		k.queue.Set(id, Never)
		k.slots[id].due, k.slots[id].next = true, Never
		k.imminent = append(k.imminent, id)
	}
	k.arrange(k.imminent)
}

// arrange puts the components of a phase in order. Any order gives the same
// states; a fixed one gives the same defects.
func (k *Kernel[M]) arrange(ids []ID) {
	if len(ids) > 1 {
		k.sort(ids)
	}
}

func (k *Kernel[M]) sort(ids []ID) {
	for i := 1; i < len(ids); i++ {
		for j := i; j > 0 && ids[j] < ids[j-1]; j-- {
			ids[j], ids[j-1] = ids[j-1], ids[j]
		}
	}
	if k.order != nil {
		k.order(ids)
	}
}

func (k *Kernel[M]) transition(id ID, now Time) error {
	s := &k.slots[id]
	if len(s.bag) > 1 {
		if err := sortBag(s.bag); err != nil {
			return fmt.Errorf("des: component %s at %d: %w", s.name, now, err)
		}
	}
	switch {
	case !s.due:
		s.component.External(now, s.bag)
	case len(s.bag) > 0:
		s.component.Confluent(now, s.bag)
	default:
		s.component.Internal(now)
	}
	if len(s.bag) > 0 {
		clear(s.bag) // drop what the messages refer to
		s.bag = s.bag[:0]
	}
	s.due = false
	k.transitions++
	if s.last != now {
		s.last, s.repeats = now, 0
	}
	if s.repeats++; s.repeats > s.bound {
		return fmt.Errorf("des: component %s made %d transitions at instant %d; its declared bound is %d (DEV-5)", s.name, s.repeats, now, s.bound)
	}
	return k.schedule(id)
}

// schedule makes the queue hold the component's next event.
func (k *Kernel[M]) schedule(id ID) error {
	s := &k.slots[id]
	next := s.component.Next()
	if next == s.next {
		return nil
	}
	if next < k.now {
		return fmt.Errorf("des: component %s at %d wants an event in the past, at %d", s.name, k.now, next)
	}
	s.next = next
	k.queue.Set(id, next)
	return nil
}

// sortBag orders a bag by key. Bags arrive almost sorted, so insertion is linear.
func sortBag[M any](bag []Message[M]) error {
	for i := 1; i < len(bag); i++ {
		for j := i; j > 0 && bag[j].before(&bag[j-1]); j-- {
			bag[j], bag[j-1] = bag[j-1], bag[j]
		}
	}
	for i := 1; i < len(bag); i++ {
		if !bag[i-1].before(&bag[i]) {
			return fmt.Errorf("two messages share the key (class %d, sender %d, count %d) (DEV-2)", bag[i].Class, bag[i].Sender, bag[i].Count)
		}
	}
	return nil
}
