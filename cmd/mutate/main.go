// Command mutate breaks the ported functions of an engine one line at a time and
// shows whether the recorded traces notice.
//
//	mutate [-files GLOB,...] [-spare FUNC,...] [-every N] TRACE...
//
// Each mutant is compiled through an overlay, so no file of the working tree is
// touched, and replays the traces until the first difference. It prints one line
// for each survivor and a closing line with the counts; it exits with 3 when fewer
// than -least percent are killed.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/inference-sim/accuracy-dashboard/engines/vllm/oracle"
	"github.com/inference-sim/accuracy-dashboard/internal/mutate"
)

var (
	files  = flag.String("files", "engines/vllm/kv/*.go,engines/vllm/sched/*.go", "source files to break, comma-separated globs")
	omit   = flag.String("omit", "cruise.go,quiet.go,event.go", "files to leave alone")
	spare  = flag.String("spare", "", "functions to leave alone, comma-separated")
	every  = flag.Int("every", 1, "take every n-th mutant")
	limit  = flag.Duration("limit", 30*time.Second, "time after which a mutant counts as killed")
	least  = flag.Float64("least", 90, "percent that must be killed")
	replay = flag.Bool("replay", false, "only replay the traces and exit 3 at the first difference")
)

func main() {
	flag.Parse()
	code, err := run(flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

func run(traces []string) (int, error) {
	if len(traces) == 0 {
		return 2, errors.New("no traces given")
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
	c := campaign{dir: dir, traces: traces}
	if err := c.sanity(); err != nil {
		return 1, err
	}
	return c.all()
}

// replayAll exits 3 at the first trace that replays differently.
func replayAll(traces []string) (int, error) {
	for _, name := range traces {
		f, err := os.Open(name)
		if err != nil {
			return 1, err
		}
		rep, err := oracle.Check(name, f)
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

// campaign is one run over all mutants.
type campaign struct {
	dir                       string
	traces                    []string
	killed, survived, invalid int
}

// sanity demands that the unbroken source survives.
func (c *campaign) sanity() error {
	built, alive, err := c.try("", nil)
	if err == nil && !(built && alive) {
		err = errors.New("the unbroken source does not replay the traces")
	}
	return err
}

func (c *campaign) all() (int, error) {
	n := 0
	for _, pattern := range strings.Split(*files, ",") {
		list, err := filepath.Glob(pattern)
		if err != nil {
			return 1, err
		}
		for _, file := range list {
			if strings.HasSuffix(file, "_test.go") || slices.Contains(strings.Split(*omit, ","), filepath.Base(file)) {
				continue
			}
			if err := c.file(file, &n); err != nil {
				return 1, err
			}
		}
	}
	total := c.killed + c.survived
	percent := 100 * float64(c.killed) / float64(max(total, 1))
	fmt.Printf("%d mutants, %d killed, %d survived (%.1f%% killed), %d did not compile\n", total, c.killed, c.survived, percent, c.invalid)
	if percent < *least {
		return 3, nil
	}
	return 0, nil
}

func (c *campaign) file(file string, n *int) error {
	src, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	mutants, err := mutate.Mutants(file, src, strings.Split(*spare, ",")...)
	if err != nil {
		return err
	}
	lines := bytes.Split(src, []byte("\n"))
	for _, m := range mutants {
		*n++
		if *n%*every != 0 {
			continue
		}
		built, alive, err := c.try(file, m.Source)
		switch {
		case err != nil:
			return err
		case !built:
			c.invalid++
		case alive:
			c.survived++
			fmt.Printf("survived %s:%d: %s: %s: %s\n", file, m.Line, m.Function, m.What, bytes.TrimSpace(lines[m.Line-1]))
		default:
			c.killed++
		}
	}
	return nil
}

// try builds this program with file replaced by src and has it replay the traces.
func (c *campaign) try(file string, src []byte) (built, alive bool, err error) {
	bin := filepath.Join(c.dir, "mutant")
	args := []string{"build", "-o", bin}
	if src != nil {
		overlay, err := c.overlay(file, src)
		if err != nil {
			return false, false, err
		}
		args = append(args, "-overlay", overlay)
	}
	if err := os.Remove(bin); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, false, err
	}
	if exec.Command("go", append(args, "./cmd/mutate")...).Run() != nil {
		return false, false, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), *limit)
	defer cancel()
	err = exec.CommandContext(ctx, bin, append([]string{"-replay"}, c.traces...)...).Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited && ctx.Err() == nil {
		return true, false, err
	}
	return true, err == nil, nil
}

// overlay writes the mutant and the file that maps the original to it.
func (c *campaign) overlay(file string, src []byte) (string, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	broken := filepath.Join(c.dir, "broken.go")
	if err := os.WriteFile(broken, src, 0o600); err != nil {
		return "", err
	}
	data, err := json.Marshal(map[string]map[string]string{"Replace": {abs: broken}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(c.dir, "overlay.json")
	return path, os.WriteFile(path, data, 0o600)
}
