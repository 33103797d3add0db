// Package site turns scored records into a signed static site.
//
// In: the records of one release, pages people wrote and reference pages as file systems, and
// where to write. Out: a directory that is complete when it appears: pages, data, charts, the
// manifest and its signature (site/seal). Nothing is published when anything fails, a broken link
// included. The site computes no figure; site/page says what it shows.
//
// No network is used and no program is started. Equal records give equal bytes, the signature
// and an ephemeral key apart.
//
// Rules kept: COV-7, COV-8, COV-11.
package site

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/swap"
	"github.com/inference-sim/accuracy-dashboard/site/page"
	"github.com/inference-sim/accuracy-dashboard/site/seal"
	"github.com/inference-sim/accuracy-dashboard/site/wasm"
)

// Options say where a site goes and what it is built with.
type Options struct {
	Out       string       // directory to make; an earlier site there is replaced, anything else is refused
	Home      string       // absolute URL of the published root, for feeds and the sitemap
	Library   string       // node_modules with the chart library; without one, charts are static pictures
	Key       string       // PEM private key, P-256; without one an ephemeral key proves integrity only
	Prose     fs.FS        // Markdown pages people wrote
	Reference fs.FS        // generated Markdown pages and the files beside them, published below reference/
	Rules     []string     // invariant ids that prose may link to as inv:ID
	Simulator *wasm.Module // nil: pages say that they cannot run it
}

// Home is where the published site lives.
const Home = "https://inference-sim.github.io/accuracy-dashboard/"

// Trust is what a signature proves, by the key it was made with.
const (
	Signed        = "signed"
	IntegrityOnly = "integrity only"
)

// Build writes the site of in.
func Build(ctx context.Context, in page.Input, o Options) error {
	work, done, err := workspace(o.Out)
	if err != nil {
		return err
	}
	defer done()
	defer boundMemory()()
	key, trust, err := signer(o.Key)
	if err != nil {
		return err
	}
	src, err := newSource(work)
	if err != nil {
		return err
	}
	in.Home = cmp.Or(o.Home, Home)
	if in.Live, err = LibraryThere(o.Library); err != nil {
		return err
	}
	if in.Reference, err = documents(o.Reference); err != nil {
		return err
	}
	if in.Simulator, err = src.simulator(o.Simulator); err != nil {
		return err
	}
	if err := errors.Join(page.Build(in, src), src.host(o.Home, in.Summary.Build)); err != nil {
		return err
	}
	in.Points, in.Releases, in.Snapshots = nil, nil, nil // what follows needs the room
	if err := src.prose(o.Prose, "."); err != nil {
		return err
	}
	if err := src.prose(o.Reference, "reference"); err != nil {
		return err
	}
	library := ""
	if in.Live {
		library = o.Library
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := src.run(settings(in, o, trust), library); err != nil {
		return err
	}
	if err := checkLinks(src.out); err != nil {
		return err
	}
	about := seal.Predicate{Release: in.Summary.Build.Release, Source: in.Summary.Build.Commit, Trust: trust}
	if err := seal.Seal(ctx, src.out, key, about); err != nil {
		return err
	}
	if _, err := seal.Verify(src.out, nil); err != nil {
		return fmt.Errorf("the new site does not verify: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return swap.Dir(src.out, o.Out)
}

// documents are the files of the reference that are data, in order of name.
func documents(reference fs.FS) ([]string, error) {
	files, err := fs.Glob(reference, "*.json")
	if err != nil {
		return nil, err
	}
	schemas, err := fs.Glob(reference, "schemas/*.json")
	return append(files, schemas...), err
}

// boundMemory makes the collector keep a build of many points within a gigabyte, where it would
// otherwise let the heap grow to twice what is live; the returned function undoes it.
func boundMemory() (undo func()) {
	const most = 768 << 20
	before := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(before, most))
	return func() { debug.SetMemoryLimit(before) }
}

// Records writes the data files alone, unsigned.
func Records(ctx context.Context, in page.Input, out string) error {
	work, done, err := workspace(out)
	if err != nil {
		return err
	}
	defer done()
	src := &source{out: filepath.Join(work, "out"), made: map[string]string{}}
	if err := page.Records(in, src); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return swap.Dir(src.out, out)
}

func signer(path string) (*seal.Key, string, error) {
	if path == "" {
		key, err := seal.EphemeralKey()
		return key, IntegrityOnly, err
	}
	key, err := seal.ReadKey(path)
	return key, Signed, err
}

// workspace makes a temporary directory beside out, so that the finished site moves there in one step, and refuses an
// out that is not free, ours, or writable before any work is done.
func workspace(out string) (work string, done func(), err error) {
	if err := Replaceable(out); err != nil {
		return "", nil, err
	}
	if err = os.MkdirAll(filepath.Dir(filepath.Clean(out)), 0o755); err == nil {
		work, done, err = swap.Workspace(out)
	}
	if err != nil {
		return "", nil, &diag.Refusal{Field: "out", Value: out, Problem: "cannot be made: " + err.Error(), Accept: "a directory that can be written"}
	}
	return work, done, nil
}

// Replaceable accepts a path that is free, an empty directory, or holds what this package wrote.
func Replaceable(out string) error {
	if out == "" {
		return &diag.Refusal{Field: "out", Problem: "is empty", Accept: "a directory"}
	}
	entries, err := os.ReadDir(out)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return &diag.Refusal{Field: "out", Value: out, Problem: "is not a directory that can be read: " + err.Error(), Accept: "a directory"}
	}
	if _, err := os.Stat(filepath.Join(out, "data", "summary.json")); err != nil {
		return &diag.Refusal{Field: "out", Value: out, Problem: "holds files that are not a site", Accept: "an empty directory, or an earlier site"}
	}
	if _, err := os.Stat(filepath.Join(out, seal.ManifestName)); err != nil {
		return nil // records alone have no manifest
	}
	foreign, err := seal.Foreign(out)
	if err == nil && foreign != "" {
		return &diag.Refusal{Field: "out", Value: filepath.Join(out, foreign), Problem: "is no file of the site there, and would be lost", Accept: "another directory, or that file elsewhere"}
	}
	return err
}

func settings(in page.Input, o Options, trust string) map[string]any {
	type item struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	}
	rules := map[string]string{}
	for _, id := range o.Rules {
		rules[strings.ToLower(id)] = "reference/invariants/#" + id
	}
	b := in.Summary.Build
	return map[string]any{
		"home": in.Home, "echarts": in.Live, "simulator": in.Simulator != "", "rules": rules, "experimental": in.Summary.Experiment,
		"stamp": fmt.Sprintf("%s, source revision %s. %s.", page.BuildName(b.Release), b.Commit, map[string]string{
			Signed: "Signed", IntegrityOnly: "Integrity only: the key was made for this build and proves that the files belong together, not who built them"}[trust]),
		"nav": []item{{"Points", "points/"}, {"Lanes", "lanes/"}, {"Engines", "engines/"}, {"Chips", "chips/"}, {"Models", "models/"},
			{"Workbench", "workbench/"}, {"Coverage", "coverage/"}, {"Backlog", "backlog/"}, {"Method", "method/"}, {"Rules", "reference/invariants/"}, {"Reference", "reference/"}},
		"foot": []item{{"Contributing", "contributing/"}, {"Glossary", "glossary/"}, {"Residuals", "residuals/"}, {"Data", "data/"}, {"Verify this site", "verify/"}, {"Releases", "releases/"}, {"RSS", "index.xml"}, {"JSON Feed", "feed.json"}},
	}
}
