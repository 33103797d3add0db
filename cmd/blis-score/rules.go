package main

import (
	"io/fs"
	"os"

	"github.com/inference-sim/accuracy-dashboard/content"
	"github.com/inference-sim/accuracy-dashboard/docgen"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/invariants"
)

// reference is the generated pages; with a run of the checks, the page of rules says how they
// ended.
func (o *options) reference() (fs.FS, error) {
	pages, err := fs.Sub(content.Reference, "generated")
	if err != nil || o.rules == "" {
		return pages, err
	}
	data, err := os.ReadFile(o.rules)
	if err != nil {
		return nil, &diag.Refusal{Field: "--rules", Value: o.rules, Problem: "cannot be read: " + err.Error(), Accept: "a file that blis invariants check --run --out wrote"}
	}
	records, err := invariants.Records()
	if err != nil {
		return nil, err
	}
	run, err := invariants.ReadRun(o.rules, data, records, revision())
	if err != nil {
		return nil, err
	}
	const name = "invariants.md"
	page, err := fs.ReadFile(pages, name)
	return replaced{pages, name, docgen.Measured(page, records, run)}, err
}

// replaced is a file system with another text for one of its files, as fs.ReadFile reads it.
type replaced struct {
	fs.FS
	name string
	data []byte
}

func (r replaced) ReadFile(name string) ([]byte, error) {
	if name == r.name {
		return r.data, nil
	}
	return fs.ReadFile(r.FS, name)
}
