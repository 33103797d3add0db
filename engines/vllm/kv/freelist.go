package kv

// Follows vllm/v1/core/kv_cache_utils.py, FreeKVCacheBlockQueue.

import "math/bits"

// freeList is the free blocks in the order they are handed out: a ring of block
// numbers, so that taking a prompt's blocks reads memory in order instead of following
// links. A block taken out of the middle leaves a gap (Null), skipped when its turn
// comes; when gaps fill the ring it is written anew.
type freeList struct {
	ring        []BlockID
	front, back uint32 // places count up and down without end; a place modulo the ring's length is its index
	n           int
}

// init makes the list of blocks 1 to n-1, in order.
func (l *freeList) init(n int) {
	size := 1 << bits.Len(uint(max(2*n, 8)-1))
	*l = freeList{ring: make([]BlockID, size), back: uint32(max(n-1, 0)), n: max(n-1, 0)}
	for i := range l.n {
		l.ring[i] = BlockID(i + 1)
	}
}

func (l *freeList) index(place uint32) uint32 { return place & uint32(len(l.ring)-1) }

// pop appends the first n blocks to dst.
func (l *freeList) pop(dst []BlockID, n int) []BlockID {
	gaps := int(l.back-l.front) > l.n
	l.n -= n
	for n > 0 {
		at, part := int(l.index(l.front)), 1
		switch {
		case !gaps:
			part = min(n, len(l.ring)-at)
			dst = append(dst, l.ring[at:at+part]...)
			n -= part
		case l.ring[at] != Null:
			dst = append(dst, l.ring[at])
			n--
		}
		l.front += uint32(part)
	}
	return dst
}

// remove takes the block at a place out.
func (l *freeList) remove(place uint32) {
	l.ring[l.index(place)] = Null
	l.n--
}

// fits reports whether n pushes need no pack first.
func (l *freeList) fits(n int) bool { return int(l.back-l.front)+n <= len(l.ring) }

// pushBack puts a block last and returns its place.
func (l *freeList) pushBack(id BlockID) uint32 {
	l.ring[l.index(l.back)] = id
	l.back++
	l.n++
	return l.back - 1
}

// pushFront puts a block first and returns its place.
func (l *freeList) pushFront(id BlockID) uint32 {
	l.front--
	l.ring[l.index(l.front)] = id
	l.n++
	return l.front
}

// prepend puts blocks first, the last of them at the very front.
func (l *freeList) prepend(ids []BlockID) {
	ring, front := l.ring, l.front
	for _, id := range ids {
		if id != Null {
			front--
			ring[front&uint32(len(ring)-1)] = id
		}
	}
	l.n += int(l.front - front)
	l.front = front
}

// pack closes the gaps and tells every block's new place.
func (l *freeList) pack(moved func(id BlockID, place uint32)) {
	to := l.front
	for from := l.front; from != l.back; from++ {
		if id := l.ring[l.index(from)]; id != Null {
			l.ring[l.index(to)] = id
			moved(id, to)
			to++
		}
	}
	l.back = to
}

// all yields the blocks in order.
func (l *freeList) all(yield func(BlockID) bool) {
	for place := l.front; place != l.back; place++ {
		if id := l.ring[l.index(place)]; id != Null && !yield(id) {
			return
		}
	}
}
