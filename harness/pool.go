package harness

import (
	"context"
	"sync"

	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// Options of a run over many units.
type Options struct {
	Jobs int // workers; at least 1
	// Store keeps finished trials, so that an interrupted run resumes; nil keeps none.
	Store *Store
	// Done is called after each trial, from one goroutine at a time, in the order
	// trials finish; nil is not called.
	Done func(t *record.Trial, done, total int)
}

// Run tries every unit and returns the trials in the order of units. The number
// of workers and the order in which they finish change nothing. A cancelled ctx
// ends the run after the trials under way, which the store then holds.
func (w *World) Run(ctx context.Context, units []*ledger.Unit, o Options) ([]record.Trial, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	trials := make([]record.Trial, len(units))
	next := make(chan int)
	var workers sync.WaitGroup
	var mu sync.Mutex
	done := 0
	finish := func(i int, t *record.Trial) {
		mu.Lock()
		defer mu.Unlock()
		trials[i] = *t
		done++
		if o.Done != nil {
			o.Done(t, done, len(units))
		}
	}
	for range max(o.Jobs, 1) {
		workers.Go(func() {
			for i := range next {
				t, err := w.tryStored(units[i], o.Store)
				if err != nil {
					stop(err)
					return
				}
				finish(i, t)
			}
		})
	}
	feed(ctx, next, len(units))
	workers.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return trials, nil
}

// feed sends 0..n-1 until ctx ends.
func feed(ctx context.Context, next chan<- int, n int) {
	defer close(next)
	for i := range n {
		if ctx.Err() != nil {
			return
		}
		select {
		case next <- i:
		case <-ctx.Done():
			return
		}
	}
}

// tryStored returns the stored trial of u when the same build made it, and tries
// and stores it otherwise.
func (w *World) tryStored(u *ledger.Unit, s *Store) (*record.Trial, error) {
	if s == nil {
		return w.Try(u)
	}
	key, err := w.key(u)
	if err != nil {
		return nil, err
	}
	if t, err := s.load(u, key); t != nil || err != nil {
		return t, err
	}
	t, err := w.Try(u)
	if err != nil {
		return nil, err
	}
	return t, s.save(key, t)
}
