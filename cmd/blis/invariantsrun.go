package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/invariants"
)

// ending is how one test ended, "not run" when it did not, and what it printed.
type ending struct{ how, output string }

// runChecks runs every named test once on the tree in dir and every break on a copy of
// it, reports rule by rule, and says which tree it judged (X22).
func runChecks(ctx context.Context, w io.Writer, dir string, records []invariants.Record) (failed int, err error) {
	ends, err := runNamed(ctx, dir, records)
	if err != nil {
		return 0, err
	}
	broken, err := os.MkdirTemp("", "blis-broken-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(broken)
	digest, err := invariants.Copy(broken, os.DirFS(dir))
	if err != nil {
		return 0, err
	}
	proven := 0
	for _, r := range records {
		verdict := "pass"
		for _, c := range r.Checks {
			for _, test := range []string{c.Test, c.Bad} {
				if e := ends[test]; e.how != "pass" && !(c.When == "nightly" && e.how == "skip" && os.Getenv(invariants.NightlySwitch) == "") {
					verdict = fmt.Sprintf("FAIL %s (%s) %s", test, e.how, strings.TrimSpace(e.output))
				}
			}
			if c.Break != nil {
				proven++
				if why, err := survives(ctx, broken, r.ID, c); err != nil {
					return 0, err
				} else if why != "" {
					verdict = "FAIL " + why
				}
			}
		}
		if len(r.Checks) > 0 {
			fmt.Fprintf(w, "%-7s %s\n", r.ID, verdict)
		}
		if verdict != "pass" {
			failed++
		}
	}
	_, err = fmt.Fprintf(w, "tree %s: %d tests ran, %d breaks\n", digest, len(ends), proven)
	return failed, err
}

func runNamed(ctx context.Context, dir string, records []invariants.Record) (map[string]ending, error) {
	byPackage := map[string][]string{}
	for _, r := range records {
		for _, c := range r.Checks {
			for _, test := range []string{c.Test, c.Bad} {
				pkg, name := splitTest(test)
				byPackage[pkg] = append(byPackage[pkg], name)
			}
		}
	}
	ends := map[string]ending{}
	for _, pkg := range slices.Sorted(maps.Keys(byPackage)) {
		names := slices.Compact(slices.Sorted(slices.Values(byPackage[pkg])))
		if err := goTest(ctx, dir, pkg, names, ends); err != nil {
			return nil, err
		}
	}
	return ends, nil
}

// survives says what is wrong when the check c does not find its break in the tree in
// dir, or does not say that it breaks the rule id.
func survives(ctx context.Context, dir, id string, c invariants.Check) (why string, err error) {
	file := filepath.Join(dir, filepath.FromSlash(c.Break.File))
	whole, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	text, err := c.Break.Apply(string(whole))
	if err != nil {
		return err.Error(), nil
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return "", err
	}
	ends := map[string]ending{}
	pkg, name := splitTest(c.Test)
	err = goTest(ctx, dir, pkg, []string{name}, ends)
	if restored := os.WriteFile(file, whole, 0o644); err == nil {
		err = restored
	}
	switch e := ends[c.Test]; {
	case err != nil:
		return "", err
	case e.how != "fail":
		return fmt.Sprintf("%s: a module broken in %s ends in %q %s", c.Test, c.Break.File, e.how, strings.TrimSpace(e.output)), nil
	case !slices.Contains(invariants.ID.FindAllString(e.output, -1), id):
		return fmt.Sprintf("%s: fails on its break and does not say %s", c.Test, id), nil
	}
	return "", nil
}

func splitTest(test string) (pkg, name string) {
	i := strings.LastIndexByte(test, '.')
	return test[:i], test[i+1:]
}

// goTest adds the end of each test of one package. The run is a required one: a test
// that lacks a tool fails in it. Trimmed paths let a copy of the tree share what the
// tree has compiled, but for the packages its break reaches.
func goTest(ctx context.Context, dir, pkg string, names []string, ends map[string]ending) error {
	c := exec.CommandContext(ctx, "go", "test", "-json", "-trimpath", "-vet=off", "-run", "^("+strings.Join(names, "|")+")$", "./"+pkg)
	c.Dir, c.Env = dir, append(os.Environ(), invariants.RequiredSwitch+"=1")
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if _, ran := errors.AsType[*exec.ExitError](err); err != nil && !ran {
		return err
	}
	for _, name := range names {
		ends[pkg+"."+name] = ending{"not run", errs.String()}
	}
	printed := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var e struct{ Action, Test, Output string }
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w", pkg, err)
		}
		test, _, _ := strings.Cut(e.Test, "/")
		printed[test] += e.Output
		switch {
		case !slices.Contains(names, e.Test):
		case e.Action == "pass":
			ends[pkg+"."+test] = ending{how: "pass"}
		case e.Action == "fail" || e.Action == "skip":
			ends[pkg+"."+test] = ending{e.Action, printed[test]}
		}
	}
}
