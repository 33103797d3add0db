// Package registry holds the coefficients of the cost model: for a primitive,
// the kernel implementation that runs it, its number format and the chip, a
// fitted curve with where it came from and how far to trust it.
//
// In: a directory of <chip>/<set>.yaml files, embedded or by path, written by
// registry/fit and never by hand, and overlays of the same layout. Out: for each
// lookup one entry, the most trusted, with every entry it displaced. Nothing is
// computed, guessed or fetched here: a value of rank roofline or assumed is an
// entry like any other, so every price traces to a committed line.
//
// Rules kept: VAL-1, VAL-3, VAL-4, VAL-8, VAL-9, VAL-10, SUB-4, SUB-9, SUB-16 of
// the Target Design.
package registry

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// Key is what a lookup asks for and what an entry is scoped to. In an entry an
// empty Kernel, Format or Version matches every one, and an entry that is not
// Windowed also serves windows.
type Key struct {
	Primitive plan.Primitive `yaml:"primitive"`
	Kernel    string         `yaml:"kernel,omitempty"`   // "<library>/<variant>"
	Version   string         `yaml:"version,omitempty"`  // of the library the data ran
	Format    string         `yaml:"format,omitempty"`   // form.Format
	Windowed  bool           `yaml:"windowed,omitempty"` // attention over a sliding window
	Chip      string         `yaml:"chip"`
	Boundary  Boundary       `yaml:"boundary"`
}

// Boundary is what a measurement includes (VAL-9).
type Boundary string

const (
	Device Boundary = "device" // device time of a captured launch
	Host   Boundary = "host"   // device time and the host's launch, eager
)

// ForKernel is the kernel part of a key.
func ForKernel(k plan.KernelImpl) string { return k.Library + "/" + k.Variant }

// ForHost is the kernel part of a key of work a library's host does; "" is any's.
func ForHost(library string) string {
	if library == "" {
		return ""
	}
	return ForKernel(plan.KernelImpl{Library: library, Variant: "host"})
}

func (k Key) String() string {
	windowed := ""
	if k.Windowed {
		windowed = " windowed"
	}
	return fmt.Sprintf("%s %s@%s %s%s on %s (%s)", k.Primitive, cmp.Or(k.Kernel, "any"), cmp.Or(k.Version, "any"),
		cmp.Or(k.Format, "any"), windowed, k.Chip, k.Boundary)
}

// Registry is an immutable set of entries, safe for concurrent reads. What it holds of a chip may
// be read only when that chip is first asked for.
type Registry struct {
	chips  map[string]*chip
	hashes Hashes
}

// Chips lists the chips that have entries, by name.
func (r *Registry) Chips() []string { return slices.Sorted(maps.Keys(r.chips)) }

// Entries lists every entry in Order, or is the first refusal of a file not read before.
func (r *Registry) Entries() ([]*Entry, error) {
	all := map[string]*Entry{}
	for _, name := range r.Chips() {
		entries, err := r.chips[name].entries()
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			all[e.identity()] = e
		}
	}
	return ordered(all), nil
}

// Hashes are the content hashes of what was loaded.
func (r *Registry) Hashes() Hashes { return r.hashes }

// Resolved is the answer to a lookup.
type Resolved struct {
	Entry     *Entry
	Curve     *form.Curve // the entry's own, or its donor's
	Method    plan.Method // effective: an unidentified entry ranks with assumed (VAL-10)
	Displaced []*Entry    // the other entries that match, most trusted first (VAL-4)
}

// Lookup returns the matching entry with the smallest method rank. Among equal
// ranks the more specific wins, in this order: kernel, format, window, version
// stated before left open; then the newest version. A key without a version takes
// the newest.
func (r *Registry) Lookup(k Key) (Resolved, error) {
	if k.Boundary == "" {
		k.Boundary = Device
	}
	var found []*Entry
	var at map[slot][]*Entry
	if c, ok := r.chips[k.Chip]; ok {
		var err error
		if at, err = c.slots(); err != nil {
			return Resolved{}, err
		}
	}
	for _, e := range at[slot{k.Primitive, k.Boundary}] {
		if e.matches(k) {
			found = append(found, e)
		}
	}
	if len(found) == 0 {
		return Resolved{}, &diag.Refusal{Field: "registry", Value: k.String(), Problem: "no entry of any rank matches",
			Accept: "a primitive and chip the registry covers", Rule: "VAL-2"}
	}
	slices.SortFunc(found, precedence)
	best := found[0]
	return Resolved{best, best.curve, best.effective(), found[1:]}, nil
}

func (e *Entry) matches(k Key) bool {
	return (!e.Windowed || k.Windowed) && (e.Kernel == "" || e.Kernel == k.Kernel) && (e.Format == "" || e.Format == k.Format) &&
		(k.Version == "" || e.Version == "" || e.Version == k.Version)
}

// precedence orders two entries that match one lookup (VAL-4).
func precedence(a, b *Entry) int {
	return cmp.Or(
		cmp.Compare(a.method, b.method),
		cmp.Compare(b2i(a.Kernel == ""), b2i(b.Kernel == "")),
		cmp.Compare(b2i(a.Format == ""), b2i(b.Format == "")),
		cmp.Compare(b2i(!a.Windowed), b2i(!b.Windowed)),
		cmp.Compare(b2i(a.Version == ""), b2i(b.Version == "")),
		Newer(a.Version, b.Version),
	)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
