package sim

import (
	"math/rand/v2"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/sim/des"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/inference-sim/accuracy-dashboard/sim/workload"
)

// moody is a source whose times change when it sends and when its requests end.
type moody struct {
	rng  *rand.Rand
	due  int64
	left int64
}

func (m *moody) draw(now int64) {
	if m.due = now + int64(m.rng.IntN(4)); m.left == 0 || m.rng.IntN(5) == 0 {
		m.due = workload.Never
	}
}

func (m *moody) Due() int64                          { return m.due }
func (m *moody) Left() int64                         { return m.left }
func (m *moody) Take(now int64, r *workload.Request) { m.left--; m.draw(now) }
func (m *moody) Ended(now int64, _ workload.End)     { m.draw(now) }

// The generator finds, among many clients, the one a scan over all would: the first
// of those due earliest.
func TestGeneratorFindsTheFirstClientDue(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	sources := make([]workload.Source, 37)
	for i := range sources {
		m := &moody{rng: rng, left: int64(1 + rng.IntN(20))}
		m.draw(0)
		sources[i] = m
	}
	g := newGenerator(sources, &spec.Frame{}, newRecorder(nil), &pool{})
	for step := range 5000 {
		wantSource, want, open := 0, des.Never, false
		for i, s := range sources {
			if at := max(g.now, des.Time(s.Due())); s.Due() != workload.Never && at < want {
				wantSource, want = i, at
			}
			open = open || s.Left() != 0
		}
		source, at := g.due()
		if at != want || at != des.Never && source != wantSource || g.spent() == open {
			t.Fatalf("step %d: got client %d at %d, spent %v; want client %d at %d, spent %v", step, source, at, g.spent(), wantSource, want, !open)
		}
		if at == des.Never || rng.IntN(3) == 0 {
			i := rng.IntN(len(sources))
			sources[i].Ended(int64(g.now), workload.End{})
			g.ask(i)
			continue
		}
		g.now = at
		sources[source].Take(int64(at), nil)
		g.ask(source)
	}
}
