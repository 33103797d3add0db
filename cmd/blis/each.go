package main

import (
	"context"
	"sync"
)

// each does the work 0..n-1 on so many workers, and calls done after each piece, from one
// goroutine at a time. The first error ends it, and so does ctx, after what is under way.
func each(ctx context.Context, workers, n int, work func(ctx context.Context, i int) error, done func()) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var group sync.WaitGroup
	var mu sync.Mutex
	next := 0
	take := func() (i int, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		i, ok = next, next < n && ctx.Err() == nil
		next++
		return i, ok
	}
	for range min(max(workers, 1), n) {
		group.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				if err := work(ctx, i); err != nil {
					stop(err)
					return
				}
				mu.Lock()
				done()
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}
