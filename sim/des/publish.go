package des

// Published is a value as another component may see it: never without the time
// and the sequence number of its publication (DEV-4).
type Published[T any] struct {
	At       Time
	Sequence uint64 // 1 for the first; 0 when nothing was published yet
	Value    T
}

// Board keeps the publications of one value until every reader with a delay of
// at most the board's has moved past them.
type Board[T any] struct {
	delay  Time
	recent []Published[T]
	count  uint64
}

// NewBoard returns a board whose values are seen delay ticks after publication.
func NewBoard[T any](delay Time) *Board[T] { return &Board[T]{delay: delay} }

// Publish adds a value; times must not fall.
func (b *Board[T]) Publish(now Time, v T) {
	b.count++
	b.drop(now)
	b.recent = append(b.recent, Published[T]{At: now, Sequence: b.count, Value: v})
}

// Observe is the latest value published at or before now less the delay.
func (b *Board[T]) Observe(now Time) Published[T] {
	for i := len(b.recent) - 1; i >= 0; i-- {
		if b.recent[i].At <= now-b.delay {
			return b.recent[i]
		}
	}
	return Published[T]{}
}

// drop forgets values that a later one, already visible, has replaced.
func (b *Board[T]) drop(now Time) {
	keep := 0
	for keep+1 < len(b.recent) && b.recent[keep+1].At <= now-b.delay {
		keep++
	}
	b.recent = b.recent[:copy(b.recent, b.recent[keep:])]
}
