package sched

// twister is MT19937 as Python seeds it with an integer, because the random queue
// policy calls random.shuffle (M. Matsumoto, T. Nishimura, ACM TOMACS 8(1), 1998;
// CPython Modules/_randommodule.c, Lib/random.py).
type twister struct {
	state [624]uint32
	at    int
}

func newTwister(seed uint32) *twister {
	t := &twister{at: 624}
	t.state[0] = 19650218
	for i := 1; i < 624; i++ {
		t.state[i] = 1812433253*(t.state[i-1]^t.state[i-1]>>30) + uint32(i)
	}
	i := 1
	for range 624 {
		t.state[i] = (t.state[i] ^ (t.state[i-1]^t.state[i-1]>>30)*1664525) + seed
		i = t.wrap(i)
	}
	for range 623 {
		t.state[i] = (t.state[i] ^ (t.state[i-1]^t.state[i-1]>>30)*1566083941) - uint32(i)
		i = t.wrap(i)
	}
	t.state[0] = 1 << 31
	return t
}

func (t *twister) wrap(i int) int {
	if i++; i >= 624 {
		t.state[0] = t.state[623]
		return 1
	}
	return i
}

func (t *twister) next() uint32 {
	if t.at == 624 {
		for i := range 624 {
			y := t.state[i]&(1<<31) | t.state[(i+1)%624]&(1<<31-1)
			t.state[i] = t.state[(i+397)%624] ^ y>>1 ^ (y&1)*0x9908b0df
		}
		t.at = 0
	}
	y := t.state[t.at]
	t.at++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// below draws from [0, n) by rejection of n's bits.
func (t *twister) below(n int) int {
	bits := 0
	for n>>bits > 0 {
		bits++
	}
	for {
		if v := int(t.next() >> (32 - bits)); v < n {
			return v
		}
	}
}

// shuffle is random.shuffle.
func (t *twister) shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, t.below(i+1))
	}
}
