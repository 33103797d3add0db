package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// COV-8: a run killed at any moment leaves the site that was there or the new one, and --resume
// then makes the same bytes and leaves nothing beside them. Half the moments lie in the
// simulation and half in what follows it, which is shorter, each up to a little after its end.
func TestKilledAtAnyMoment(t *testing.T) {
	keep.Rule(t, "COV-8")
	for publish, moments := range map[string]int{"--records-only": 4, "--json": 2} {
		if os.Getenv("BLIS_NIGHTLY") != "" {
			moments = 50
		}
		t.Run(publish, func(t *testing.T) {
			v := newVictim(t, publish)
			want, long := v.complete(v.after)
			old, _ := v.complete(v.before)
			if err := os.CopyFS(v.kept, os.DirFS(v.out)); err != nil {
				t.Fatal(err)
			}
			rng, unchanged := rand.New(rand.NewPCG(6, 20)), 0
			for i := range moments {
				at := time.Duration(rng.Int64N(int64(long[i%2] * 5 / 4)))
				v.kill(i%2, at)
				switch got := data(t, v.out); {
				case same(got, old) == "":
					unchanged++
				case same(got, want) != "":
					t.Fatalf("killed %v into stage %d: %s is neither old nor new", at, i%2, same(got, want))
				}
				long[1] = max(long[1], v.check(want))
			}
			t.Logf("killed %d times, within %v of simulating or %v of publishing: the old site stood %d times, the new one %d", moments, long[0], long[1], unchanged, moments-unchanged)
		})
	}
}

// victim is a run of twenty units that replaces a site of two. It runs outside the source, where
// no simulator for browsers can be compiled.
type victim struct {
	*testing.T
	dir, out, kept, publish string
	before, after           string // units
}

func newVictim(t *testing.T, publish string) *victim {
	dir := t.TempDir()
	return &victim{t, dir, filepath.Join(dir, "out"), filepath.Join(dir, "kept"), publish, strings.Join(short(t, 2), ","), strings.Join(short(t, 20), ",")}
}

// watcher keeps what a run says, and closes simulated when all twenty units are done.
type watcher struct {
	said      bytes.Buffer
	simulated chan struct{}
	at        time.Time
}

func (w *watcher) Write(p []byte) (int, error) {
	n, err := w.said.Write(p)
	if w.at.IsZero() && bytes.Contains(w.said.Bytes(), []byte("tried 20 of 20 units")) {
		w.at = time.Now()
		close(w.simulated)
	}
	return n, err
}

func (v *victim) start(units string, extra ...string) (*exec.Cmd, *watcher) {
	v.Helper()
	program, err := os.Executable()
	if err != nil {
		v.Fatal(err)
	}
	c := exec.Command(program, append([]string{"--role", "fit", "--jobs", "2", "--charts", "", "--units", units, "--out", v.out, v.publish}, extra...)...)
	w := &watcher{simulated: make(chan struct{})}
	c.Dir, c.Env, c.Stderr = v.dir, append(os.Environ(), "BLIS_SCORE_AS_PROGRAM=1"), w
	if err := c.Start(); err != nil {
		v.Fatal(err)
	}
	return c, w
}

// complete runs to the end and times the two stages.
func (v *victim) complete(units string, extra ...string) (site map[string]string, long [2]time.Duration) {
	v.Helper()
	began := time.Now()
	c, w := v.start(units, extra...)
	if err := c.Wait(); err != nil {
		v.Fatalf("%v\n%s", err, &w.said)
	}
	return data(v.T, v.out), [2]time.Duration{w.at.Sub(began), time.Since(w.at)}
}

// kill ends a run without warning at a time after a stage began.
func (v *victim) kill(stage int, at time.Duration) {
	c, w := v.start(v.after)
	if stage == 1 {
		<-w.simulated
	}
	time.Sleep(at)
	_ = c.Process.Kill()
	_ = c.Wait()
}

// check resumes a killed run and puts the old site back. It returns how long publishing took.
func (v *victim) check(want map[string]string) time.Duration {
	v.Helper()
	if v.publish != "--records-only" {
		if code, _, errs := score(v.T, "verify", v.out); code != exit.Done {
			v.Fatalf("the site that stood does not verify: %s", errs)
		}
	}
	got, long := v.complete(v.after, "--resume")
	if same(got, want) != "" {
		v.Errorf("resumed: %s has other bytes", same(got, want))
	}
	if left := names(v.T, v.dir); !slices.Equal(left, []string{"kept", "out"}) {
		v.Errorf("resumed: left %q, want the site alone", left)
	}
	if err := os.RemoveAll(v.out); err != nil {
		v.Fatal(err)
	}
	if err := os.CopyFS(v.out, os.DirFS(v.kept)); err != nil {
		v.Fatal(err)
	}
	return long[1]
}

// data is the site's data files: keys and signatures are new each time.
func data(t *testing.T, out string) map[string]string {
	t.Helper()
	all := tree(t, out)
	for name := range all {
		if !strings.HasPrefix(name, "data/") {
			delete(all, name)
		}
	}
	return all
}
