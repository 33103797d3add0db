package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/inference-sim/accuracy-dashboard/internal/swap"
	"github.com/inference-sim/accuracy-dashboard/invariants"
)

// ending is how one test ended, "not run" when it did not, and what it printed.
type ending struct{ how, output string }

// ruleRun runs the checks of records. Every named test runs once on the tree in dir, and
// every break once on a copy of it.
type ruleRun struct {
	dir, module string
	log         io.Writer // progress, a line for each package and break
	began       time.Time
}

// runChecks reports rule by rule, and says which tree it judged (X22).
func runChecks(ctx context.Context, w, log io.Writer, dir string, records []invariants.Record) (*invariants.Run, error) {
	r := ruleRun{dir: dir, log: log, began: time.Now()}
	m, err := invariants.Load(os.DirFS(dir))
	if err != nil {
		return nil, err
	}
	if r.module, err = moduleName(dir); err != nil {
		return nil, err
	}
	out := &invariants.Run{Schema: invariants.RunSchema, Commit: commitOf(ctx, dir)}
	ends, err := r.named(ctx, records)
	if err != nil {
		return nil, err
	}
	broken, digest, err := r.breaks(ctx, records)
	if err != nil {
		return nil, err
	}
	out.Tree = digest
	for _, rec := range records {
		verdict := verdictOf(rec, ends, broken)
		for test, end := range ends { // a failure is told once
			if strings.Contains(verdict, "FAIL "+test+" (") {
				ends[test] = ending{end.how, "as above"}
			}
		}
		if len(rec.Checks) > 0 {
			fmt.Fprintf(w, "%-7s %s\n", rec.ID, verdict)
		}
		var failed, left []string
		for _, c := range rec.Checks {
			for _, told := range []string{c.Test + " (", c.Bad + " (", c.Test + ":"} {
				if strings.Contains(verdict, "FAIL "+told) && !slices.Contains(failed, c.Test) {
					failed = append(failed, c.Test)
				}
			}
			if ends[c.Test].how == "skip" && !slices.Contains(failed, c.Test) {
				left = append(left, c.Test)
			}
		}
		out.Rules = append(out.Rules, invariants.Measure(rec, m, failed, left))
	}
	_, err = fmt.Fprintf(w, "tree %s: %d tests ran, %d breaks\n", digest, len(ends), len(broken))
	return out, err
}

// failures is how many rules have a check that failed.
func failures(run *invariants.Run) (n int) {
	for _, m := range run.Rules {
		if len(m.Failed) > 0 {
			n++
		}
	}
	return n
}

// commitOf is the commit checked out in dir, with "+modified" when a file differs from it, and
// "unknown" where there is none.
func commitOf(ctx context.Context, dir string) string {
	commit, err := exec.CommandContext(ctx, "git", "-C", dir, "rev-parse", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	changed, err := exec.CommandContext(ctx, "git", "-C", dir, "status", "-s").Output()
	if err != nil || len(changed) > 0 {
		return strings.TrimSpace(string(commit)) + "+modified"
	}
	return strings.TrimSpace(string(commit))
}

// verdictOf is "pass", or what is wrong with the rule's checks.
func verdictOf(r invariants.Record, ends map[string]ending, broken map[breaking]ending) string {
	var wrong []string
	for _, c := range r.Checks {
		for _, test := range slices.Compact([]string{c.Test, c.Bad}) {
			if e := ends[test]; e.how != "pass" && !(c.When == "nightly" && e.how == "skip" && !nightly()) {
				wrong = append(wrong, fmt.Sprintf("FAIL %s (%s) %s", test, e.how, strings.TrimSpace(e.output)))
			}
		}
		if c.Break == nil {
			continue
		}
		switch e := broken[breaking{*c.Break, c.Test}]; {
		case e.how != "fail":
			wrong = append(wrong, fmt.Sprintf("FAIL %s: a module broken in %s ends in %q %s", c.Test, c.Break.File, e.how, strings.TrimSpace(e.output)))
		case !slices.Contains(invariants.ID.FindAllString(e.output, -1), r.ID):
			wrong = append(wrong, fmt.Sprintf("FAIL %s: fails on its break and does not say %s", c.Test, r.ID))
		}
	}
	if wrong == nil {
		return "pass"
	}
	return strings.Join(wrong, "\n\t")
}

func nightly() bool { return os.Getenv(invariants.NightlySwitch) != "" }

// named runs each test that records name, all packages in one run of the go command: it
// builds them together, and answers what an interrupted run had finished from its cache.
func (r *ruleRun) named(ctx context.Context, records []invariants.Record) (map[string]ending, error) {
	ends := map[string]ending{}
	for _, rec := range records {
		for _, c := range rec.Checks {
			ends[c.Test], ends[c.Bad] = ending{how: "not run"}, ending{how: "not run"}
		}
	}
	packages, names := map[string]bool{}, map[string]bool{}
	for test := range ends {
		pkg, name := splitTest(test)
		packages["./"+pkg], names[name] = true, true
	}
	if len(ends) == 0 {
		return ends, nil
	}
	args := []string{"-run", "^(" + strings.Join(slices.Sorted(maps.Keys(names)), "|") + ")$"}
	return ends, r.goTest(ctx, r.dir, append(args, slices.Sorted(maps.Keys(packages))...), len(packages), ends)
}

// breaking is one broken tree and the test that must find it.
type breaking struct {
	invariants.Break
	test string
}

// breaks makes each break in a copy of the tree, runs its test there, and undoes it. It
// returns the digest of the tree.
func (r *ruleRun) breaks(ctx context.Context, records []invariants.Record) (map[breaking]ending, string, error) {
	copied, done, err := swap.Workspace(filepath.Join(os.TempDir(), "blis-broken"))
	if err != nil {
		return nil, "", err
	}
	defer done()
	digest, err := invariants.Copy(copied, os.DirFS(r.dir))
	if err != nil {
		return nil, "", err
	}
	out := map[breaking]ending{}
	for _, rec := range records {
		for _, c := range rec.Checks {
			if c.Break == nil {
				continue
			}
			b := breaking{*c.Break, c.Test}
			if _, done := out[b]; done {
				continue
			}
			if out[b], err = r.broken(ctx, copied, b); err != nil {
				return nil, "", err
			}
			r.say("%s broken: %s ends in %q", b.File, b.test, out[b].how)
		}
	}
	return out, digest, nil
}

// broken is how b's test ends in the copy of the tree while b's edit stands in it.
func (r *ruleRun) broken(ctx context.Context, copied string, b breaking) (end ending, err error) {
	file := filepath.Join(copied, filepath.FromSlash(b.File))
	whole, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return ending{"not broken", b.File + " does not exist; name the file that holds this code now"}, nil
	}
	if err != nil {
		return end, err
	}
	text, err := b.Apply(string(whole))
	if err != nil {
		return ending{"not broken", err.Error()}, nil
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return end, err
	}
	defer func() { err = errors.Join(err, os.WriteFile(file, whole, 0o644)) }()
	pkg, name := splitTest(b.test)
	ends := map[string]ending{b.test: {how: "not run"}}
	err = r.goTest(ctx, copied, []string{"-run", "^" + name + "$", "./" + pkg}, 0, ends)
	return ends[b.test], err
}

func (r *ruleRun) say(format string, args ...any) {
	fmt.Fprintf(r.log, "%6.0fs  %s\n", time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
}

func splitTest(test string) (pkg, name string) {
	i := strings.LastIndexByte(test, '.')
	return test[:i], test[i+1:]
}

func moduleName(dir string) (string, error) {
	c := exec.Command("go", "list", "-m")
	c.Dir = dir
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("go list -m in %s: %w", dir, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// event is a line of what the go command prints with -json.
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64
}

// goTest runs the go command and writes down how each test of ends ended. The run is a
// required one: a test that lacks a tool fails in it. It logs each of packages that ends.
func (r *ruleRun) goTest(ctx context.Context, dir string, args []string, packages int, ends map[string]ending) error {
	limit := "1h" // a busy machine is no failure
	if nightly() {
		limit = "5h"
	}
	c := exec.CommandContext(ctx, "go", append([]string{"test", "-json", "-vet=off", "-timeout=" + limit}, args...)...)
	c.Dir, c.Env = dir, append(os.Environ(), invariants.RequiredSwitch+"=1")
	if dir != r.dir { // trimmed paths let every copy of the tree share what was compiled
		c.Env = append(c.Env, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -trimpath"))
	}
	pipe, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	c.Stderr = r.log
	if err := c.Start(); err != nil {
		return err
	}
	done, printed := 0, map[string]string{}
	for d := json.NewDecoder(pipe); ; {
		var e event
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return errors.Join(fmt.Errorf("go test: %w", err), c.Wait())
		}
		pkg := strings.TrimPrefix(strings.TrimPrefix(e.Package, r.module), "/")
		if e.Test == "" && packages > 0 && slices.Contains([]string{"pass", "fail", "skip"}, e.Action) {
			done++
			r.say("%d of %d: %s %s, %.1f s", done, packages, pkg, e.Action, e.Elapsed)
		}
		if _, wanted := ends[pkg+"."+e.Test]; wanted && packages > 0 && e.Action == "fail" {
			r.say("FAIL %s.%s", pkg, e.Test)
		}
		e.record(pkg, printed, ends)
	}
	if err := c.Wait(); err != nil {
		if _, ran := errors.AsType[*exec.ExitError](err); !ran || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
	}
	return nil
}

// record notes what e says of a test that ends lists; a package that was not built says
// so for each of its tests.
func (e event) record(pkg string, printed map[string]string, ends map[string]ending) {
	if e.Action == "build-output" {
		pkg, _, _ = strings.Cut(e.ImportPath, " ")
		printed[pkg] += e.Output
		return
	}
	top, _, _ := strings.Cut(e.Test, "/")
	test := pkg + "." + top
	printed[test] += e.Output
	_, wanted := ends[test]
	switch {
	case e.Test == "" && e.Action == "fail":
		for t, end := range ends {
			if p, _ := splitTest(t); p == pkg && end.how == "not run" {
				ends[t] = ending{"not run", printed[pkg+"."] + printed[e.Package]}
			}
		}
	case !wanted || top != e.Test:
	case e.Action == "pass":
		ends[test] = ending{how: "pass"}
	case e.Action == "fail" || e.Action == "skip":
		ends[test] = ending{e.Action, printed[test]}
	}
}
