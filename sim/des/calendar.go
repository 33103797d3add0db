package des

import "slices"

// Calendar is a calendar queue (R. Brown, CACM 31(10), 1988): buckets of equal
// width, each sorted latest first, visited in turn. An entry that was replaced stays
// until its turn and is known to be stale by its generation.
type Calendar struct {
	generations []uint32 // by component, of its live entry
	buckets     [][]entry
	width       Time
	n           int
	day         int  // bucket that holds the earliest entry, when n > 0
	top         Time // exclusive end of that bucket's present year
}

const minBuckets = 4

// entry is an event as it was set.
type entry struct {
	at         Time
	id         ID
	generation uint32
}

// NewCalendar returns a queue without events.
func NewCalendar() *Calendar {
	return &Calendar{buckets: make([][]entry, minBuckets), width: 1, top: 1}
}

// Set makes t the time of id's event.
func (c *Calendar) Set(id ID, t Time) {
	for int(id) >= len(c.generations) {
		c.generations = append(c.generations, 0)
	}
	c.generations[id]++
	if t != Never {
		c.push(entry{t, id, c.generations[id]})
	}
}

// Min is the earliest event.
func (c *Calendar) Min() (Time, ID) {
	for c.n > 0 {
		b := c.buckets[c.day]
		if e := b[len(b)-1]; c.generations[e.id] == e.generation {
			return e.at, e.id
		}
		c.pop()
	}
	return Never, 0
}

func (c *Calendar) push(e entry) {
	c.insert(e)
	if c.n > 2*len(c.buckets) {
		c.resize(2 * len(c.buckets))
	}
}

// pop removes the earliest entry.
func (c *Calendar) pop() {
	b := c.buckets[c.day]
	c.buckets[c.day] = b[:len(b)-1]
	c.n--
	if c.n < len(c.buckets)/2 && len(c.buckets) > minBuckets {
		c.resize(len(c.buckets) / 2)
		return
	}
	c.seek()
}

func (c *Calendar) bucket(t Time) int { return int(t / c.width % Time(len(c.buckets))) }

func (c *Calendar) insert(e entry) {
	i := c.bucket(e.at)
	b := c.buckets[i]
	at, _ := slices.BinarySearchFunc(b, e.at, func(x entry, t Time) int {
		if x.at > t {
			return -1
		}
		return 1
	})
	c.buckets[i] = slices.Insert(b, at, e)
	c.n++
	if start := c.top - c.width; c.n == 1 || e.at < start {
		c.day, c.top = i, (e.at/c.width+1)*c.width
	}
}

// seek moves to the bucket of the earliest entry: day by day for one year, then
// straight to the earliest of all.
func (c *Calendar) seek() {
	if c.n == 0 {
		return
	}
	for range c.buckets {
		if b := c.buckets[c.day]; len(b) > 0 && b[len(b)-1].at < c.top {
			return
		}
		c.day = (c.day + 1) % len(c.buckets)
		c.top += c.width
	}
	best := Never
	for i, b := range c.buckets {
		if len(b) > 0 && b[len(b)-1].at <= best {
			best = b[len(b)-1].at
			c.day = i
		}
	}
	c.top = (best/c.width + 1) * c.width
}

// resize lays the entries out over n buckets as wide as their mean spacing.
func (c *Calendar) resize(n int) {
	all := make([]entry, 0, c.n)
	for _, b := range c.buckets {
		all = append(all, b...)
	}
	slices.SortFunc(all, func(a, b entry) int { return int(min(1, max(-1, a.at-b.at))) })
	c.buckets = make([][]entry, n)
	c.n, c.width = 0, 1
	if len(all) > 1 {
		c.width = max(1, (all[len(all)-1].at-all[0].at)/Time(len(all)))
	}
	for _, e := range all {
		c.insert(e)
	}
	c.seek()
}
