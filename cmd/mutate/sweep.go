package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/inference-sim/accuracy-dashboard/internal/mutate"
)

func (c *campaign) planted(role string) *exec.Cmd {
	cmd := exec.Command(c.binary(), append([]string{"-work", role, "-engine", *engine, "-memory", fmt.Sprint(*memory)}, c.traces...)...)
	cmd.Stderr = os.Stderr
	return cmd
}

// census notes which breaks each trace passes and what it costs.
func (c *campaign) census() error {
	out, err := c.planted("census").Output()
	if err != nil {
		return fmt.Errorf("the census failed: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(out))
	for range c.traces {
		var p passage
		if err := dec.Decode(&p); err != nil {
			return err
		}
		c.passages = append(c.passages, p)
	}
	return nil
}

// tasks are the breaks some trace passes, each with its traces, cheapest first.
func (c *campaign) tasks() []task {
	byCost := make([]int, len(c.traces))
	for i := range byCost {
		byCost[i] = i
	}
	slices.SortStableFunc(byCost, func(a, b int) int {
		return int(1e6 * (c.passages[a].Seconds - c.passages[b].Seconds))
	})
	passing := make(map[int][]int)
	for _, i := range byCost {
		for _, id := range c.passages[i].Reached {
			passing[id] = append(passing[id], i)
		}
	}
	var out []task
	for _, b := range c.breaks {
		t := task{ID: b.ID, Traces: passing[b.ID]}
		for _, i := range t.Traces {
			t.Limit = append(t.Limit, 0.5+10*c.passages[i].Seconds)
		}
		if len(t.Traces) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// replay wakes the breaks one after the other; a planted binary that ends is started
// again at the next break.
func (c *campaign) replay() error {
	c.killed = make(map[int]string)
	for todo := c.tasks(); len(todo) > 0; {
		done, err := c.shift(todo)
		if err != nil {
			return err
		}
		todo = todo[done:]
	}
	return nil
}

// shift has one planted binary work until it ends and returns how many tasks it did.
func (c *campaign) shift(todo []task) (done int, err error) {
	cmd := c.planted("kill")
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	cmd.Stderr = io.Discard // a stack overflow prints its stacks
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	enc, answers := json.NewEncoder(in), bufio.NewScanner(out)
	for _, t := range todo {
		if err := enc.Encode(t); err != nil {
			break
		}
		var id int
		how := panics // it died without an answer
		if answers.Scan() {
			if _, err := fmt.Sscan(answers.Text(), &id, &how); err != nil || id != t.ID {
				return 0, fmt.Errorf("break %d: answer %q: %w", t.ID, answers.Text(), err)
			}
		}
		done++
		if how != escapes {
			c.killed[t.ID] = how
		}
		if id == 0 || how == sticks {
			break
		}
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		_, exited := errors.AsType[*exec.ExitError](err)
		if !exited || done == 0 {
			return 0, err
		}
	}
	if done == 0 {
		return 0, errors.New("the planted binary did nothing")
	}
	return done, nil
}

// compileTests compiles the tests of the broken packages and of the port's suite.
func (c *campaign) compileTests() error {
	dirs := []string{c.port.suite}
	for _, b := range c.breaks {
		if dir := filepath.Dir(b.File); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		out, err := exec.Command("go", "test", "-c", "-overlay", c.overlay, "-o", c.testBinary(dir), "./"+filepath.ToSlash(dir)).CombinedOutput()
		if err != nil {
			return fmt.Errorf("the planted tests of %s do not compile:\n%s", dir, out)
		}
	}
	return nil
}

func (c *campaign) testBinary(dir string) string { return filepath.Join(c.dir, flat(dir)+".test") }

// tests runs the broken package's own tests, then the suite, on what the traces left.
func (c *campaign) tests() error {
	for _, b := range c.breaks {
		if c.killed[b.ID] != "" {
			continue
		}
		passed, err := c.passes(filepath.Dir(b.File), ".", b.ID)
		if err == nil && passed {
			passed, err = c.passes(c.port.suite, c.port.tests, b.ID)
		}
		if err != nil {
			return err
		}
		if !passed {
			c.killed[b.ID] = tested
		}
	}
	return nil
}

// passes runs tests of a package with one break awake.
func (c *campaign) passes(dir, tests string, id int) (bool, error) {
	cmd := exec.Command(c.testBinary(dir), "-test.failfast", "-test.short", "-test.timeout", time.Minute.String(), "-test.run", tests)
	cmd.Dir = dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "BLIS_") }), fmt.Sprintf("%s=%d", mutate.Variable, id))
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		return false, err
	}
	return err == nil, nil
}
