package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	sglang "github.com/inference-sim/accuracy-dashboard/engines/sglang/oracle"
	vllm "github.com/inference-sim/accuracy-dashboard/engines/vllm/oracle"
	"github.com/inference-sim/accuracy-dashboard/internal/mutate"
	trace "github.com/inference-sim/accuracy-dashboard/internal/replay"
)

// port is what the sweep knows of an engine.
type port struct {
	check func(string, io.Reader) (trace.Report, error)
	files string // ported source
	omit  string // files that are not ported
	suite string // package whose tests run what the traces and the broken package's own tests leave
	tests string // of them
}

var ports = map[string]port{
	"vllm": {vllm.Check, "engines/vllm/kv/*.go,engines/vllm/sched/*.go", "cruise.go,quiet.go,event.go,index.go,keys.go,freelist.go",
		"engines/vllm", "Conformance|Events|Ranks"},
	"sglang": {sglang.Check, "engines/sglang/kv/*.go,engines/sglang/sched/*.go", "", "engines/sglang", "Conforms"},
}

var (
	engine = flag.String("engine", "vllm", "the port: vllm or sglang")
	files  = flag.String("files", "", "source files to break, comma-separated globs; empty is the port's")
	omit   = flag.String("omit", "", "files to leave alone; empty is what the port does not port")
	spare  = flag.String("spare", "", "functions to leave alone, comma-separated")
	sample = flag.Int("sample", 0, "break only so many lines, drawn with -seed; 0 is all")
	seed   = flag.Uint64("seed", 1, "of the sample")
	memory = flag.Uint64("memory", 1<<30, "bytes of heap; a break that needs more counts as killed")
	least  = flag.Float64("least", 90, "percent that must be killed")
	work   = flag.String("work", "", "used by the sweep itself: the role of a planted binary, census or kill")
)

func run(traces []string) (int, error) {
	p, ok := ports[*engine]
	switch {
	case !ok:
		return 2, fmt.Errorf("no traces of engine %q: vllm or sglang", *engine)
	case len(traces) == 0:
		return 2, errors.New("no traces given")
	case *work != "":
		if err := worker(p, traces); err != nil {
			return 1, err
		}
		return 0, nil
	}
	if *files == "" {
		*files = p.files
	}
	if *omit == "" {
		*omit = p.omit
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	c := campaign{dir: dir, port: p, traces: traces, dead: make(map[string]map[int]bool)}
	if err := c.build(); err != nil {
		return 1, err
	}
	if err := c.compileTests(); err != nil {
		return 1, err
	}
	c.draw()
	if err := c.census(); err != nil {
		return 1, err
	}
	if err := c.replay(); err != nil {
		return 1, err
	}
	if err := c.tests(); err != nil {
		return 1, err
	}
	return c.report()
}

// draw keeps the sample.
func (c *campaign) draw() {
	if *sample == 0 || *sample >= len(c.breaks) {
		return
	}
	rand.New(rand.NewPCG(*seed, 0)).Shuffle(len(c.breaks), func(i, j int) { c.breaks[i], c.breaks[j] = c.breaks[j], c.breaks[i] })
	c.breaks = c.breaks[:*sample]
	slices.SortFunc(c.breaks, func(a, b mutate.Break) int { return a.ID - b.ID })
}

// report prints the outcome and holds it against the survivors file.
func (c *campaign) report() (int, error) {
	var alive []mutate.Break
	by := map[string]int{}
	for _, b := range c.breaks {
		if how := c.killed[b.ID]; how != "" {
			by[how]++
		} else {
			alive = append(alive, b)
		}
	}
	unexplained, stale, err := explain(filepath.Join("engines", *engine, "testdata", "survivors.txt"), alive, *sample == 0)
	if err != nil {
		return 1, err
	}
	for _, b := range alive {
		fmt.Printf("survived %s:%d: %s\n", b.File, b.Line, key(b))
	}
	for _, b := range unexplained {
		fmt.Printf("not explained %s:%d: %s\n", b.File, b.Line, key(b))
	}
	for _, k := range stale {
		fmt.Printf("explained but killed or gone: %s\n", k)
	}
	lost := 0
	for _, lines := range c.dead { // order: a sum
		lost += len(lines)
	}
	n := len(c.breaks)
	percent := 100 * float64(n-len(alive)) / float64(max(n, 1))
	fmt.Printf("%d lines broken, %d killed (%d by a difference, %d by a panic, %d by sticking, %d by a package test), %d survived (%.1f%% killed); %d lines whose break does not compile\n",
		n, n-len(alive), by[differs], by[panics], by[sticks], by[tested], len(alive), percent, lost)
	if percent < *least || len(unexplained)+len(stale) > 0 {
		return 3, nil
	}
	return 0, nil
}

func list(s string) []string { return strings.Split(s, ",") }
