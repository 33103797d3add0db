package main

import (
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

	"github.com/inference-sim/accuracy-dashboard/internal/mutate"
)

// campaign is one run over all breaks.
type campaign struct {
	dir    string // scratch
	port   port
	traces []string

	overlay  string
	breaks   []mutate.Break
	dead     map[string]map[int]bool // lines whose break does not compile, by file
	passages []passage               // of the traces
	killed   map[int]string          // how, by ID
}

func (c *campaign) binary() string { return filepath.Join(c.dir, "mutant") }

// build plants the breaks and compiles this program with them, leaving out the lines
// the compiler objects to.
func (c *campaign) build() error {
	for range 20 {
		if err := c.plant(); err != nil {
			return err
		}
		out, err := exec.Command("go", "build", "-gcflags=-e", "-overlay", c.overlay, "-o", c.binary(), "./cmd/mutate").CombinedOutput()
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

// plant writes the broken sources and the overlay that puts them in place.
func (c *campaign) plant() error {
	c.breaks = c.breaks[:0]
	replace := make(map[string]string)
	for _, pattern := range list(*files) {
		names, err := filepath.Glob(pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") || slices.Contains(list(*omit), filepath.Base(name)) {
				continue
			}
			if err := c.file(name, replace); err != nil {
				return err
			}
		}
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	c.overlay = filepath.Join(c.dir, "overlay.json")
	return os.WriteFile(c.overlay, data, 0o600)
}

// file plants one file.
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
	abs, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	replace[abs] = filepath.Join(c.dir, flat(name))
	return os.WriteFile(replace[abs], planted, 0o600)
}

// flat is a path as one file name.
func flat(path string) string { return strings.ReplaceAll(path, string(filepath.Separator), "_") }
