package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/invariants"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// Notes lists what differs between two source trees, as Markdown: prices of reference
// steps, coefficients, recorded traces, documents and rules (§13.3). from nil is the
// first release.
func Notes(from, to fs.FS) (string, error) {
	if from == nil {
		return "First release: there is nothing to compare it with.\n", nil
	}
	var b strings.Builder
	for _, part := range []struct {
		title string
		diff  func(from, to fs.FS) ([]string, error)
	}{
		{"Prices of reference steps", prices}, {"Coefficients", coefficients}, {"Recorded traces", traces},
		{"Documents", documents}, {"Rules", rules},
	} {
		lines, err := part.diff(from, to)
		if err != nil {
			return "", fmt.Errorf("%s: %w", strings.ToLower(part.title), err)
		}
		fmt.Fprintf(&b, "## %s\n\n", part.title)
		if len(lines) == 0 {
			b.WriteString("No change.\n")
		}
		for _, l := range lines {
			b.WriteString("- " + l + "\n")
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}

// Price is the price of one reference step, as PriceFile lists them.
type Price struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
	Method  string  `json:"method"`
}

// PriceFile holds the committed prices of the reference steps.
const PriceFile = "content/generated/prices.json"

func prices(from, to fs.FS) ([]string, error) {
	old, err := read(from)
	if err != nil {
		return nil, err
	}
	now, err := read(to)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range names(old, now) {
		a, was := old[name]
		b, is := now[name]
		switch {
		case !was:
			out = append(out, fmt.Sprintf("%s: %s, new", name, milliseconds(b)))
		case !is:
			out = append(out, name+": gone")
		case a != b:
			out = append(out, fmt.Sprintf("%s: %s to %s (%+.2f%%), %s", name, milliseconds(a), milliseconds(b), 100*(b.Seconds/a.Seconds-1), b.Method))
		}
	}
	return out, nil
}

func milliseconds(p Price) string { return fmt.Sprintf("%.4g ms", p.Seconds*1e3) }

func read(tree fs.FS) (map[string]Price, error) {
	data, err := fs.ReadFile(tree, PriceFile)
	if err != nil {
		return nil, err
	}
	var list []Price
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, err
	}
	out := map[string]Price{}
	for _, p := range list {
		if !(p.Seconds > 0) || math.IsInf(p.Seconds, 0) {
			return nil, fmt.Errorf("%s: %s: %v seconds", PriceFile, p.Name, p.Seconds)
		}
		out[p.Name] = p
	}
	return out, nil
}

func coefficients(from, to fs.FS) ([]string, error) {
	old, err := open(from)
	if err != nil {
		return nil, err
	}
	now, err := open(to)
	if err != nil {
		return nil, err
	}
	changes, err := registry.Diff(old, now)
	var out []string
	for _, c := range changes {
		out = append(out, c.String())
	}
	return out, err
}

func open(tree fs.FS) (*registry.Registry, error) {
	data, err := fs.Sub(tree, "registry/data")
	if err != nil {
		return nil, err
	}
	return registry.Open(data)
}

// hashes are the contents below the directories that match a pattern.
func hashes(tree fs.FS, pattern string) (map[string]string, error) {
	files, err := fs.Glob(tree, pattern)
	out := map[string]string{}
	for _, f := range files {
		data, err := fs.ReadFile(tree, f)
		if err != nil {
			return nil, err
		}
		out[f] = fmt.Sprintf("%x", sha256.Sum256(bytes.TrimSpace(data)))
	}
	return out, err
}

func changed(from, to fs.FS, pattern string) ([]string, error) {
	old, err := hashes(from, pattern)
	now, err2 := hashes(to, pattern)
	var out []string
	for _, f := range names(old, now) {
		switch {
		case old[f] == "":
			out = append(out, f+": new")
		case now[f] == "":
			out = append(out, f+": gone")
		case old[f] != now[f]:
			out = append(out, f+": changed")
		}
	}
	return out, errors.Join(err, err2)
}

func traces(from, to fs.FS) ([]string, error) {
	return changed(from, to, "engines/*/testdata/oracle/*")
}

func documents(from, to fs.FS) ([]string, error) {
	lines, err := changed(from, to, "content/generated/schemas/*.json")
	for i, l := range lines {
		lines[i] = path.Base(l)
	}
	return lines, err
}

func rules(from, to fs.FS) ([]string, error) {
	status := func(tree fs.FS) (map[string]string, error) {
		sub, err := fs.Sub(tree, "invariants")
		if err != nil {
			return nil, err
		}
		records, err := invariants.ReadRecords(sub)
		out := map[string]string{}
		for _, r := range records {
			out[r.ID] = string(r.Status)
		}
		return out, err
	}
	old, err := status(from)
	now, err2 := status(to)
	var out []string
	for _, id := range names(old, now) {
		if old[id] != now[id] {
			out = append(out, fmt.Sprintf("%s: %s to %s", id, orNone(old[id]), orNone(now[id])))
		}
	}
	return out, errors.Join(err, err2)
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// names are the keys of both maps, sorted.
func names[V any](a, b map[string]V) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}
