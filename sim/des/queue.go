package des

// Queue holds the next event of each component. Events of one time may come in any
// order: the kernel takes all of an instant together.
type Queue interface {
	// Set makes t the time of id's event, in place of an earlier one; Never is none.
	Set(id ID, t Time)
	// Min is the earliest event; its time is Never when there is none.
	Min() (Time, ID)
}

// Tournament is a winner tree over the components: the earliest event stands at the
// root, of equal ones the lowest component's, and a change plays one match a level.
// It holds no stale events.
type Tournament struct {
	tree []event // 1 is the root; the leaves, one a component, are the upper half
}

// event is the next one of a component.
type event struct {
	at Time
	id ID
}

// NewTournament returns a queue without events.
func NewTournament() *Tournament { return &Tournament{tree: leaves(1)} }

// leaves makes a tree of n leaves, a power of two, without events.
func leaves(n int) []event {
	t := make([]event, 2*n)
	for i := range t {
		t[i].at = Never
	}
	return t
}

// Set makes t the time of id's event.
func (q *Tournament) Set(id ID, t Time) {
	for int(id) >= len(q.tree)/2 {
		q.grow()
	}
	i := len(q.tree)/2 + int(id)
	q.play(i, event{t, id})
}

// play enters e at leaf i and decides the matches from there to the root.
func (q *Tournament) play(i int, e event) {
	for tree := q.tree; ; i /= 2 {
		tree[i] = e
		if i == 1 {
			return
		}
		if other := tree[i^1]; other.at < e.at || other.at == e.at && other.id < e.id {
			e = other
		}
		if tree[i/2] == e {
			return
		}
	}
}

// Min is the earliest event.
func (q *Tournament) Min() (Time, ID) { return q.tree[1].at, q.tree[1].id }

// grow doubles the leaves.
func (q *Tournament) grow() {
	old := q.tree[len(q.tree)/2:]
	q.tree = leaves(2 * len(old))
	for i, e := range old {
		q.play(2*len(old)+i, e)
	}
}
