package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inference-sim/accuracy-dashboard/internal/mutate"
)

// campaign is one run over all breaks.
type campaign struct {
	dir    string // scratch
	traces []string
	limit  time.Duration
	breaks []mutate.Break
	dead   map[string]map[int]bool // lines whose break does not compile, by file
}

func (c *campaign) binary() string { return filepath.Join(c.dir, "mutant") }

// build plants the breaks and compiles this program with them, leaving out the lines
// the compiler objects to.
func (c *campaign) build() error {
	for range 20 {
		overlay, err := c.plant()
		if err != nil {
			return err
		}
		out, err := exec.Command("go", "build", "-gcflags=-e", "-overlay", overlay, "-o", c.binary(), "./cmd/mutate").CombinedOutput()
		if err == nil {
			return nil
		}
		if !c.bury(out) {
			return fmt.Errorf("the planted source does not compile:\n%s", out)
		}
	}
	return errors.New("the planted source does not compile after twenty tries")
}

var position = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):\d+: `)

// bury notes the lines of compiler messages and reports whether there was a new one.
func (c *campaign) bury(messages []byte) bool {
	fresh := false
	for _, m := range position.FindAllSubmatch(messages, -1) {
		line, err := strconv.Atoi(string(m[2]))
		if err != nil {
			continue
		}
		for file := range c.dead { // order: at most one matches
			if flat(file) == filepath.Base(string(m[1])) && !c.dead[file][line] {
				c.dead[file][line] = true
				fresh = true
			}
		}
	}
	return fresh
}

// plant writes the broken sources and returns the overlay that puts them in place.
func (c *campaign) plant() (string, error) {
	c.breaks = c.breaks[:0]
	replace := make(map[string]string)
	for _, pattern := range list(*files) {
		names, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") || slices.Contains(list(*omit), filepath.Base(name)) {
				continue
			}
			if err := c.file(name, replace); err != nil {
				return "", err
			}
		}
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(c.dir, "overlay.json")
	return path, os.WriteFile(path, data, 0o600)
}

// file plants one file and its package's support file.
func (c *campaign) file(name string, replace map[string]string) error {
	src, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if c.dead[name] == nil {
		c.dead[name] = make(map[int]bool)
	}
	planted, breaks, err := mutate.Plant(name, src, len(c.breaks)+1, list(*spare), c.dead[name])
	if err != nil {
		return err
	}
	c.breaks = append(c.breaks, breaks...)
	dir := filepath.Dir(name)
	for at, text := range map[string][]byte{name: planted, filepath.Join(dir, "mutant_support.go"): mutate.Support(filepath.Base(dir))} { // order: distinct files
		abs, err := filepath.Abs(at)
		if err != nil {
			return err
		}
		replace[abs] = filepath.Join(c.dir, flat(at))
		if err := os.WriteFile(replace[abs], text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// flat is a path as one file name.
func flat(path string) string { return strings.ReplaceAll(path, string(filepath.Separator), "_") }

// survives replays the traces with one break awake.
func (c *campaign) survives(id string) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), c.limit)
	defer cancel()
	script := fmt.Sprintf(`ulimit -v %d; exec "$0" "$@"`, *memory)
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", script, c.binary(), "-replay", "-engine", *engine}, c.traces...)...)
	cmd.Env = append(os.Environ(), mutate.Variable+"="+id)
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited && ctx.Err() == nil {
		return false, err
	}
	return err == nil, nil
}
