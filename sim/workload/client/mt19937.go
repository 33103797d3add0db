package client

// mt19937 is the Mersenne Twister of Matsumoto and Nishimura (ACM TOMACS 8(1),
// 1998) with Knuth's seeding, as NumPy's legacy RandomState uses it.
type mt19937 struct {
	state [mtSize]uint32
	index int
}

const (
	mtSize  = 624
	mtShift = 397
)

func newMT19937(seed uint32) *mt19937 {
	g := &mt19937{index: mtSize}
	for i := range g.state {
		g.state[i] = seed
		seed = 1812433253*(seed^seed>>30) + uint32(i) + 1
	}
	return g
}

func (g *mt19937) uint32() uint32 {
	if g.index == mtSize {
		g.twist()
	}
	y := g.state[g.index]
	g.index++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

func (g *mt19937) twist() {
	for i := range g.state {
		y := g.state[i]&0x80000000 | g.state[(i+1)%mtSize]&0x7fffffff
		v := g.state[(i+mtShift)%mtSize] ^ y>>1
		if y&1 == 1 {
			v ^= 0x9908b0df
		}
		g.state[i] = v
	}
	g.index = 0
}

// below is uniform on 0..span by masked rejection: one 32-bit output a try, no
// bits kept (RandomState.randint, 64-bit dtype, span below 2^32). A span of 0
// consumes nothing.
func (g *mt19937) below(span uint32) uint32 {
	if span == 0 {
		return 0
	}
	mask := span
	for _, s := range []uint{1, 2, 4, 8, 16} {
		mask |= mask >> s
	}
	for {
		if v := g.uint32() & mask; v <= span {
			return v
		}
	}
}
