// Command mutate breaks the ported functions of an engine one line at a time and
// shows whether the recorded traces notice.
//
//	mutate [-engine NAME] [-files GLOB,...] [-omit FILE,...] [-spare FUNC,...] TRACE...
//
// Every break is planted in one binary through an overlay, so no file of the working
// tree is touched; then the traces are replayed once a break until the first
// difference. It prints a line for each survivor and a closing line with the counts,
// and exits 3 when fewer than -least percent are killed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	sglang "github.com/inference-sim/accuracy-dashboard/engines/sglang/oracle"
	vllm "github.com/inference-sim/accuracy-dashboard/engines/vllm/oracle"
	trace "github.com/inference-sim/accuracy-dashboard/internal/replay"
)

// checks replay a trace of each port.
var checks = map[string]func(string, io.Reader) (trace.Report, error){"vllm": vllm.Check, "sglang": sglang.Check}

var (
	engine = flag.String("engine", "vllm", "the port: vllm or sglang")
	files  = flag.String("files", "engines/vllm/kv/*.go,engines/vllm/sched/*.go", "source files to break, comma-separated globs")
	omit   = flag.String("omit", "cruise.go,quiet.go,event.go,index.go", "files to leave alone: what is not ported")
	spare  = flag.String("spare", "", "functions to leave alone, comma-separated")
	limit  = flag.Duration("limit", 20*time.Second, "time after which a break counts as killed, and at least three times the replay without one")
	memory = flag.Int("memory", 4<<20, "address space of a replay in KiB; a break that needs more counts as killed")
	least  = flag.Float64("least", 90, "percent that must be killed")
	replay = flag.Bool("replay", false, "only replay the traces and exit 3 at the first difference")
)

func main() {
	flag.Parse()
	code, err := run(flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
	}
	os.Exit(code)
}

func run(traces []string) (int, error) {
	if len(traces) == 0 {
		return 2, errors.New("no traces given")
	}
	if checks[*engine] == nil {
		return 2, fmt.Errorf("no traces of engine %q: vllm or sglang", *engine)
	}
	if *replay {
		return replayAll(traces)
	}
	if err := smallFirst(traces); err != nil {
		return 1, err
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	c := campaign{dir: dir, traces: traces, dead: make(map[string]map[int]bool)}
	if err := c.build(); err != nil {
		return 1, err
	}
	begin := time.Now()
	c.limit = 20 * *limit
	if alive, err := c.survives(""); err != nil || !alive {
		return 1, errors.Join(errors.New("without a break the traces do not replay"), err)
	}
	c.limit = max(*limit, 3*time.Since(begin))
	return c.all()
}

// replayAll exits 3 at the first trace that replays differently.
func replayAll(traces []string) (int, error) {
	for _, name := range traces {
		f, err := os.Open(name)
		if err != nil {
			return 1, err
		}
		rep, err := checks[*engine](name, f)
		f.Close()
		if err != nil || len(rep.Differences) > 0 {
			return 3, nil
		}
	}
	return 0, nil
}

func smallFirst(traces []string) error {
	size := make(map[string]int64)
	for _, name := range traces {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		size[name] = info.Size()
	}
	slices.SortFunc(traces, func(a, b string) int { return int(size[a] - size[b]) })
	return nil
}

// all wakes the breaks one after the other.
func (c *campaign) all() (int, error) {
	killed := 0
	for i := range c.breaks {
		b := &c.breaks[i]
		alive, err := c.survives(fmt.Sprint(b.ID))
		if err != nil {
			return 1, err
		}
		if !alive {
			killed++
			continue
		}
		fmt.Printf("survived %s:%d: %s: %s: %s\n", b.File, b.Line, b.Function, b.What, b.Text)
	}
	lost := 0
	for _, lines := range c.dead { // order: a sum
		lost += len(lines)
	}
	percent := 100 * float64(killed) / float64(max(len(c.breaks), 1))
	fmt.Printf("%d lines broken, %d killed, %d survived (%.1f%% killed); %d lines whose break does not compile\n",
		len(c.breaks), killed, len(c.breaks)-killed, percent, lost)
	if percent < *least {
		return 3, nil
	}
	return 0, nil
}

func list(s string) []string { return strings.Split(s, ",") }
