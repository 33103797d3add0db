package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/swap"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// output is a file that appears at its path only when it is whole. What a killed process left of
// one goes with the next for the same path.
type output struct {
	file *os.File
	path string // where it will be: no symbolic link
	done func() // removes what the file was made in
}

// claims says what each file of a command is, "--timeline" or an input, by its
// resolved path: no file is two things.
type claims map[string]string

// inputs claims the files a command reads.
func inputs(paths ...string) claims {
	c := claims{}
	for _, path := range paths {
		if at, err := resolve(path); err == nil { // else reading it says why
			c[at] = "an input"
		}
	}
	return c
}

// scenarioInputs claims a scenario's own file and the trace it names.
func scenarioInputs(path string, s *spec.Scenario) claims {
	if t := s.Workload.Trace; t != nil {
		return inputs(path, filepath.Join(filepath.Dir(path), t.Path))
	}
	return inputs(path)
}

// create begins the file that a flag names. A path that cannot take it is refused
// before any work is done: what exists there must be a regular file, or a link to
// one, and no other file of the command.
func (c claims) create(flag, path string) (output, error) {
	refuse := func(problem string) (output, error) {
		return output{}, &diag.Refusal{Field: flag, Value: path, Problem: problem, Accept: "the path of a file"}
	}
	if path == "" {
		return refuse("is empty")
	}
	at, err := resolve(path)
	if err != nil {
		return refuse("cannot be written: " + err.Error())
	}
	switch i, err := os.Stat(at); {
	case err == nil && i.IsDir():
		return refuse("is a directory")
	case err == nil && !i.Mode().IsRegular():
		return refuse("is not a regular file")
	case c[at] != "":
		return refuse("is " + c[at] + " of this command too")
	case flag == "--plot" && filepath.Ext(path) != ".svg":
		return output{}, &diag.Refusal{Field: flag, Value: path, Problem: "does not end in .svg, and plots are SVG alone", Accept: strings.TrimSuffix(path, filepath.Ext(path)) + ".svg"}
	}
	work, done, err := swap.Workspace(at)
	if err != nil {
		return refuse("cannot be written: " + err.Error())
	}
	f, err := os.Create(filepath.Join(work, "next"))
	if err != nil {
		done()
		return refuse("cannot be written: " + err.Error())
	}
	c[at] = "the " + flag
	return output{f, at, done}, nil
}

// resolve is the path behind every symbolic link; its last part need not exist.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	at, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return at, err
	}
	if _, err := os.Lstat(path); err == nil {
		return "", errors.New("it is a link to a file that does not exist")
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

func (o *output) keep() error {
	if err := o.file.Chmod(0o644); err != nil {
		return err
	}
	if err := o.file.Close(); err != nil {
		return err
	}
	if err := os.Rename(o.file.Name(), o.path); err != nil {
		return err
	}
	o.done()
	return nil
}

func (o *output) discard() {
	o.file.Close()
	o.done()
}

// writeWhole writes the file of --out, which appears at path only when it is whole.
func (c claims) writeWhole(path string, write func(*os.File) error) error {
	o, err := c.create("--out", path)
	if err != nil {
		return err
	}
	if err := write(o.file); err != nil {
		o.discard()
		return err
	}
	if err := o.keep(); err != nil {
		o.discard()
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
