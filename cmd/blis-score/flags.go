package main

import (
	"slices"
	"strconv"

	"github.com/inference-sim/accuracy-dashboard/harness"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/scorer/snapshot"
	"github.com/inference-sim/accuracy-dashboard/site/seal"
	"github.com/spf13/pflag"
)

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
	}
	return nil
}

// checkOutput refuses an output that cannot be made, the key included: it is used last.
func (o *options) checkOutput() error {
	if o.out == "" {
		return unusable("--out", "", "is empty", "a directory to make")
	}
	if o.key == "" {
		return nil
	}
	if _, err := seal.ReadKey(o.key); err != nil {
		return &diag.Refusal{Field: "--key", Problem: err.Error(), Accept: "a file with an unencrypted PEM private key on curve P-256"}
	}
	return nil
}

func (o *candidate) check() error {
	if o.out == "" {
		return unusable("--out", "", "is empty", "a file to write")
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
