package release

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/invariants"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// Notes lists what differs between two source trees, as Markdown: modelled upstreams, prices
// of reference steps, coefficients, recorded traces, documents and rules (§13.3). from nil is
// the first release.
func Notes(from, to fs.FS) (string, error) {
	if from == nil {
		return "First release: there is nothing to compare it with.\n", nil
	}
	var b strings.Builder
	for _, part := range []struct {
		title string
		diff  func(from, to fs.FS) ([]string, error)
	}{
		{"Modelled upstreams", upstreams}, {"Prices of reference steps", prices}, {"Coefficients", coefficients}, {"Recorded traces", traces},
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

// rules compares whole records: a rule whose checks or words changed is another one.
func rules(from, to fs.FS) ([]string, error) {
	old, err := recordsOf(from)
	now, err2 := recordsOf(to)
	var out []string
	for _, id := range names(old, now) {
		was, is := old[id], now[id]
		switch {
		case was == nil:
			out = append(out, fmt.Sprintf("%s: new, %s", id, is["status"]))
		case is == nil:
			out = append(out, id+": gone")
		case !maps.Equal(was, is):
			var fields []string
			for _, key := range names(was, is) {
				switch {
				case was[key] == is[key]:
				case key == "status":
					fields = append(fields, fmt.Sprintf("status %s to %s", was[key], is[key]))
				default:
					fields = append(fields, key+" changed")
				}
			}
			out = append(out, id+": "+strings.Join(fields, ", "))
		}
	}
	return out, errors.Join(err, err2)
}

// recordsOf is the fields of each rule's record, by id, as text.
func recordsOf(tree fs.FS) (map[string]map[string]string, error) {
	sub, err := fs.Sub(tree, "invariants")
	if err != nil {
		return nil, err
	}
	records, err := invariants.ReadRecords(sub)
	out := map[string]map[string]string{}
	for _, r := range records {
		text, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(text, &fields); err != nil {
			return nil, err
		}
		out[r.ID] = map[string]string{}
		for key, value := range fields {
			out[r.ID][key] = strings.Trim(string(value), `"`)
		}
	}
	return out, err
}

// UpstreamsFile is the generated page that names the commit each port models.
const UpstreamsFile = "content/generated/upstreams.md"

var upstreamRow = regexp.MustCompile("(?m)^\\| (\\S+) \\| (\\S+) \\| `([0-9a-f]{40})` \\| \\S+ \\| `(\\S+)` \\|")

// upstreams names the modelled commits before and after, the unchanged ones too.
func upstreams(from, to fs.FS) ([]string, error) {
	old, err := upstreamsOf(from)
	now, err2 := upstreamsOf(to)
	var out []string
	for _, engine := range names(old, now) {
		if old[engine] == now[engine] {
			out = append(out, fmt.Sprintf("%s: %s, as before", engine, now[engine]))
		} else {
			out = append(out, fmt.Sprintf("%s: %s, before it %s", engine, cmp.Or(now[engine], "none"), cmp.Or(old[engine], "none")))
		}
	}
	return out, errors.Join(err, err2)
}

func upstreamsOf(tree fs.FS) (map[string]string, error) {
	page, err := fs.ReadFile(tree, UpstreamsFile)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, m := range upstreamRow.FindAllStringSubmatch(string(page), -1) {
		out[m[1]] = fmt.Sprintf("%s at %s (%s)", m[2], m[3], m[4])
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s names no upstream", UpstreamsFile)
	}
	return out, nil
}

// names are the keys of both maps, sorted.
func names[V any](a, b map[string]V) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}
