package des

import "slices"

// Calendar is a calendar queue (R. Brown, CACM 31(10), 1988): buckets of equal
// width, each sorted latest first, visited in turn.
type Calendar struct {
	buckets [][]Entry
	width   Time
	n       int
	day     int  // bucket that holds the earliest entry, when n > 0
	top     Time // exclusive end of that bucket's present year
}

const minBuckets = 4

// NewCalendar returns an empty calendar queue.
func NewCalendar() *Calendar {
	return &Calendar{buckets: make([][]Entry, minBuckets), width: 1, top: 1}
}

// Len is the number of entries.
func (c *Calendar) Len() int { return c.n }

// Push adds an entry.
func (c *Calendar) Push(e Entry) {
	c.insert(e)
	if c.n > 2*len(c.buckets) {
		c.resize(2 * len(c.buckets))
	}
}

// Min is the earliest entry.
func (c *Calendar) Min() (Entry, bool) {
	if c.n == 0 {
		return Entry{}, false
	}
	b := c.buckets[c.day]
	return b[len(b)-1], true
}

// Pop removes the earliest entry.
func (c *Calendar) Pop() {
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

func (c *Calendar) insert(e Entry) {
	i := c.bucket(e.Time)
	b := c.buckets[i]
	at, _ := slices.BinarySearchFunc(b, e.Time, func(x Entry, t Time) int {
		if x.Time > t {
			return -1
		}
		return 1
	})
	c.buckets[i] = slices.Insert(b, at, e)
	c.n++
	if start := c.top - c.width; c.n == 1 || e.Time < start {
		c.day, c.top = i, (e.Time/c.width+1)*c.width
	}
}

// seek moves to the bucket of the earliest entry: day by day for one year, then
// straight to the earliest of all.
func (c *Calendar) seek() {
	if c.n == 0 {
		return
	}
	for range c.buckets {
		if b := c.buckets[c.day]; len(b) > 0 && b[len(b)-1].Time < c.top {
			return
		}
		c.day = (c.day + 1) % len(c.buckets)
		c.top += c.width
	}
	best := Never
	for i, b := range c.buckets {
		if len(b) > 0 && b[len(b)-1].Time <= best {
			best = b[len(b)-1].Time
			c.day = i
		}
	}
	c.top = (best/c.width + 1) * c.width
}

// resize lays the entries out over n buckets as wide as their mean spacing.
func (c *Calendar) resize(n int) {
	all := make([]Entry, 0, c.n)
	for _, b := range c.buckets {
		all = append(all, b...)
	}
	slices.SortFunc(all, func(a, b Entry) int { return int(min(1, max(-1, a.Time-b.Time))) })
	c.buckets = make([][]Entry, n)
	c.n, c.width = 0, 1
	if len(all) > 1 {
		c.width = max(1, (all[len(all)-1].Time-all[0].Time)/Time(len(all)))
	}
	for _, e := range all {
		c.insert(e)
	}
	c.seek()
}
