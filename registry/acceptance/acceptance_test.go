package acceptance

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// set has, for one workload: a target with its own drafter and two others, and a
// second target of the same architecture.
const set = `schema: blis.acceptance/v1
profiles:
  - {target: a, drafter: mtp, method: mtp, workload: coding/on, sampling: s, lengths: [1.8, 2.4, 2.9], source: own}
  - {target: a, drafter: e1, method: eagle3, workload: coding/on, sampling: s, lengths: [1.7, 2.2], source: high}
  - {target: a, drafter: e2, method: eagle3, workload: coding/on, sampling: s, lengths: [1.6, 2.1], source: low}
  - {target: b, drafter: mtp, method: mtp, workload: coding/on, sampling: s, lengths: [1.5], source: cousin}
  - {target: c, drafter: mtp, method: mtp, workload: coding/off, sampling: s, lengths: [1.9], source: elsewhere}
`

func architecture(target string) string {
	return map[string]string{"a": "X", "b": "Y", "b2": "Y", "c": "Z"}[target]
}

func parse(t *testing.T, text string) *Set {
	t.Helper()
	s, err := Parse("profiles.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestBorrowingOrder follows D8: exact key, other K, other drafter, architecture.
func TestBorrowingOrder(t *testing.T) {
	keep.Rule(t, "D8")
	s := parse(t, set)
	for _, c := range []struct {
		key          Key
		source, step string
		length       float64
	}{
		{Key{"a", "mtp", "coding/on", 2}, "own", "exact", 2.4},
		{Key{"a", "mtp", "coding/on", 3}, "own", "exact", 2.9},
		{Key{"a", "mtp", "coding/on", 7}, "own", "other_k", 2.9},      // above the largest: the largest's
		{Key{"a", "e3", "coding/on", 2}, "low", "other_drafter", 2.1}, // no method matches: the lowest
		{Key{"a", "eagle3", "coding/on", 1}, "low", "other_drafter", 1.6},
		{Key{"b2", "mtp", "coding/on", 1}, "cousin", "same_architecture", 1.5},
	} {
		got, err := s.Lookup(c.key, architecture)
		if err != nil {
			t.Errorf("%+v: %v", c.key, err)
			continue
		}
		if got.Source != c.source || got.Step != c.step || got.Length != c.length {
			t.Errorf("%+v: got %+v, want %s by %s, %v", c.key, got, c.source, c.step, c.length)
		}
		if (c.step == "exact") != (len(got.Differs) == 0) {
			t.Errorf("%+v: step %s names %q as different", c.key, c.step, got.Differs)
		}
	}
}

// D8: measured at 2 and 4 drafts alone, with and without rates by position.
const sparse = `schema: blis.acceptance/v1
profiles:
  - {target: a, drafter: mtp, method: mtp, workload: coding/on, sampling: s, drafts: [2, 4], lengths: [2.4, 3.0], per_position: [0.8, 0.6], source: rates}
  - {target: b, drafter: mtp, method: mtp, workload: coding/on, sampling: s, drafts: [2, 4], lengths: [2.4, 3.0], source: none}
`

func TestBoundsOfMeasuredDrafts(t *testing.T) {
	keep.Rule(t, "D8")
	s := parse(t, sparse)
	for _, c := range []struct {
		target, step string
		k            int
		length       float64
	}{
		{"a", "exact", 2, 2.4}, {"a", "exact", 4, 3.0},
		{"a", "other_k", 3, 2.7}, // between: linear
		{"a", "other_k", 1, 1.8}, // below, by its own rates
		{"b", "other_k", 1, 1.7}, // below, without: 1 + 1(2.4-1)/2
		{"a", "other_k", 9, 3.0}, // above: the largest's
	} {
		got, err := s.Lookup(Key{c.target, "mtp", "coding/on", c.k}, architecture)
		if err != nil {
			t.Fatal(err)
		}
		length, chance := 1.0, 1.0
		for _, q := range got.PerPosition {
			chance *= q
			length += chance
		}
		if got.Step != c.step || math.Abs(got.Length-c.length) > 1e-12 || math.Abs(length-c.length) > 1e-9 || (c.step == "exact") != (len(got.Differs) == 0) {
			t.Errorf("%s, %d drafts: got %+v that gives %v, want %v by %s", c.target, c.k, got, length, c.length, c.step)
		}
	}
}

func TestExactOnlyBorrowsNothing(t *testing.T) {
	keep.Rule(t, "D8")
	s := parse(t, set).ExactOnly()
	if got, err := s.Lookup(Key{"a", "mtp", "coding/on", 2}, architecture); err != nil || got.Step != "exact" {
		t.Errorf("the exact key: got %+v, %v", got, err)
	}
	for _, k := range []Key{{"a", "mtp", "coding/on", 7}, {"a", "e3", "coding/on", 2}, {"b2", "mtp", "coding/on", 1}} {
		if got, err := s.Lookup(k, architecture); err == nil || !strings.Contains(err.Error(), "none may be borrowed") {
			t.Errorf("%+v: got %+v, %v, want a refusal", k, got, err)
		}
	}
}

// D8: a tie goes to the first in order of target and drafter.
func TestATieIsBrokenByName(t *testing.T) {
	keep.Rule(t, "D8")
	s := parse(t, strings.ReplaceAll(strings.ReplaceAll(set, "[1.7, 2.2]", "[1.6, 2.1]"), "source: high", "source: first"))
	if got, err := s.Lookup(Key{"a", "e3", "coding/on", 2}, architecture); err != nil || got.Source != "first" {
		t.Errorf("got %+v, %v, want the profile of e1", got, err)
	}
}

func TestNothingIsBorrowedAcrossWorkloads(t *testing.T) {
	keep.Rule(t, "D8")
	s := parse(t, set)
	for _, k := range []Key{{"a", "mtp", "coding/off", 1}, {"c", "mtp", "coding/on", 1}, {"b2", "eagle3", "coding/on", 1}, {"a", "mtp", "coding/on", 0}} {
		if got, err := s.Lookup(k, architecture); err == nil {
			t.Errorf("%+v: got %+v, want a refusal", k, got)
		}
	}
}

// A refusal names profiles that the same lookup would find, and no others.
func TestARefusalNamesWhatWouldBeFound(t *testing.T) {
	keep.Rule(t, "D8", "SIM-2")
	s := parse(t, set)
	for _, c := range []struct {
		set  *Set
		key  Key
		want string
	}{
		{s, Key{"a", "mtp", "coding/off", 2}, "workload.acceptance.per_position with 2 chances, or workload.acceptance.profile, one of: coding/on"},
		{s, Key{"c", "mtp", "coding/on", 3}, "workload.acceptance.per_position with 3 chances, or workload.acceptance.profile, one of: coding/off"},
		{s, Key{"z", "e9", "coding/on", 3}, "workload.acceptance.per_position with 3 chances"},
		{s.ExactOnly(), Key{"a", "mtp", "coding/off", 7}, "workload.acceptance.per_position with 7 chances"},
	} {
		_, err := c.set.Lookup(c.key, architecture)
		if r, ok := errors.AsType[*diag.Refusal](err); !ok || r.Accept != c.want {
			t.Errorf("%+v: got %#v, want accepted: %q", c.key, err, c.want)
		}
	}
}

// TestProbabilitiesGiveTheLength: 1 plus the chance each draft is emitted is the
// measured length, at every K of every committed profile.
func TestProbabilitiesGiveTheLength(t *testing.T) {
	keep.Rule(t, "D8")
	s, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Profiles {
		for k := 1; k <= len(p.Lengths)+2; k++ {
			f, err := s.Lookup(Key{p.Target, p.Drafter, p.Workload, k}, architecture)
			if err != nil {
				t.Fatal(err)
			}
			length, chance := 1.0, 1.0
			for _, q := range f.PerPosition {
				chance *= q
				length += chance
			}
			if bad := func(q float64) bool { return q < 0 || q > 1 }; slices.ContainsFunc(f.PerPosition, bad) {
				t.Errorf("%s %d: got %v, want probabilities", p.Target, k, f.PerPosition)
			}
			if want := p.Lengths[min(k, len(p.Lengths))-1]; math.Abs(length-want) > 1e-9 {
				t.Errorf("%s %s %d drafts: got length %v, want %v", p.Target, p.Workload, k, length, want)
			}
		}
	}
}

func TestParseRefuses(t *testing.T) {
	keep.Rule(t, "D8", "SUB-2")
	for name, edit := range map[string][2]string{
		"unknown schema":   {"acceptance/v1", "acceptance/v9"},
		"no lengths":       {"lengths: [1.5]", "lengths: []"},
		"below one token":  {"lengths: [1.5]", "lengths: [0.5]"},
		"above one draft":  {"lengths: [1.5]", "lengths: [2.5]"},
		"unknown key":      {"source: cousin", "origin: cousin"},
		"ambiguous key":    {"drafter: e2", "drafter: e1"},
		"drafts that fall": {"lengths: [1.7, 2.2]", "drafts: [2, 1], lengths: [1.7, 2.2]"},
		"a draft without":  {"lengths: [1.7, 2.2]", "drafts: [2], lengths: [1.7, 2.2]"},
		"rising rates":     {"lengths: [1.5]", "lengths: [1.5], per_position: [0.5, 0.6]"},
		"rates too few":    {"lengths: [1.5]", "drafts: [2], lengths: [1.5], per_position: [0.5]"},
	} {
		text := strings.Replace(set, edit[0], edit[1], 1)
		if text == set {
			t.Fatalf("%s: the fixture has no %q", name, edit[0])
		}
		if _, err := Parse("profiles.yaml", []byte(text)); err == nil {
			t.Errorf("%s: accepted, want a refusal", name)
		}
	}
}
