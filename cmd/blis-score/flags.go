package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/inference-sim/accuracy-dashboard/harness"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/scorer/snapshot"
	"github.com/inference-sim/accuracy-dashboard/site"
	"github.com/inference-sim/accuracy-dashboard/site/seal"
	"github.com/spf13/pflag"
)

// ofTheSite are the flags that a shard cannot obey, because its units alone make no site.
var ofTheSite = []string{"junit", "step-summary", "json", "records-only", "key", "charts", "rules"}

// check refuses flags no run can obey, before anything is read.
func (o *options) check(f *pflag.FlagSet) error {
	if err := o.checkOutput(); err != nil {
		return err
	}
	if err := checkJobs(o.jobs); err != nil {
		return err
	}
	if f.Changed("units") && (len(o.units) == 0 || slices.Contains(o.units, "")) {
		return unusable("--units", "", "names no unit", "ids or beginnings of ids, separated by commas; leave the flag out for all")
	}
	if _, err := rolesOf(o.role); err != nil {
		return exit.UsageError(err)
	}
	if f.Changed("release") {
		if err := snapshot.Release(o.release); err != nil {
			return exit.UsageError(err)
		}
	}
	if f.Changed("shard") {
		if _, err := harness.ParseShard(o.shard); err != nil {
			return exit.UsageError(err)
		}
		for _, name := range ofTheSite {
			if f.Changed(name) && f.Lookup(name).Value.String() != "" {
				return unusable("--"+name, f.Lookup(name).Value.String(), "says nothing to a shard", "blis-score merge --"+name+", when every shard is there")
			}
		}
	}
	return nil
}

// checkOutput refuses an output that cannot be made, the key included: it is used last.
func (o *options) checkOutput() error {
	if o.out == "" {
		return unusable("--out", "", "is empty", "a directory to make")
	}
	if info, err := os.Lstat(filepath.Clean(o.out)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return &diag.Refusal{Field: "--out", Value: o.out, Problem: "is a symbolic link, which a directory would replace", Accept: "the directory itself"}
	}
	if err := o.pipeline.check(); err != nil {
		return err
	}
	if _, err := site.LibraryThere(o.library); err != nil {
		return &diag.Refusal{Field: "--charts", Value: o.library, Problem: "cannot be read: " + err.Error(), Accept: "node_modules with the chart library, or nothing"}
	}
	if _, err := o.reference(); err != nil {
		return err
	}
	if o.key == "" {
		return nil
	}
	if _, err := seal.ReadKey(o.key); err != nil {
		return &diag.Refusal{Field: "--key", Problem: err.Error(), Accept: "a file with an unencrypted PEM private key on curve P-256"}
	}
	return nil
}

// writable refuses a file that cannot be made, because it is written after the long part.
func writable(flag, file string) error {
	if file == "" {
		return nil
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return &diag.Refusal{Field: flag, Value: file, Problem: "is a directory", Accept: "a file to write"}
	}
	if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
		return &diag.Refusal{Field: flag, Value: file, Problem: "is in no directory that exists", Accept: "a file to write in a directory that is there"}
	}
	return nil
}

func (o *candidate) check() error {
	if o.out == "" {
		return unusable("--out", "", "is empty", "a file to write")
	}
	if err := writable("--out", o.out); err != nil {
		return err
	}
	return checkJobs(o.jobs)
}

func checkJobs(n int) error {
	if n < 1 {
		return unusable("--jobs", strconv.Itoa(n), "simulates nothing", "1 or more")
	}
	return nil
}

// unusable is a value its flag never takes, whatever the data.
func unusable(flag, value, problem, accept string) error {
	return exit.UsageError(&diag.Refusal{Field: flag, Value: value, Problem: problem, Accept: accept})
}
