package invariants

import (
	"fmt"
	"slices"
	"strings"
)

// Ratchet compares the records with ratchet.txt, whose lines are `id status`. A
// status may rise and never fall; a rise is written down, so that it cannot fall again.
func Ratchet(records []Record, text string) []Finding {
	var out []Finding
	held := map[string]Status{}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		id, status, ok := strings.Cut(line, " ")
		if !ok || !slices.Contains(statuses, Status(status)) {
			out = append(out, Finding{fmt.Sprintf("invariants/ratchet.txt:%d", i+1), fmt.Sprintf("%q is not an id and a status", line), "write `X6 partial`"})
			continue
		}
		held[id] = Status(status)
	}
	for _, r := range records {
		was, listed := held[r.ID]
		delete(held, r.ID)
		switch {
		case !listed || rank(r.Status) > rank(was):
			out = append(out, Finding{"invariants/ratchet.txt", fmt.Sprintf("%s is %s, the file says %q", r.ID, r.Status, was), "go test ./invariants -run TestRatchet -update"})
		case rank(r.Status) < rank(was):
			out = append(out, Finding{"invariants/records: " + r.ID, fmt.Sprintf("fell from %s to %s", was, r.Status), "restore the check; a status never falls"})
		}
	}
	for _, id := range sortedKeys(held) {
		out = append(out, Finding{"invariants/records", id + " is gone", "restore the record; a rule that no longer applies says what it became"})
	}
	return out
}

// unprovenFile lists, as `id test`, the checks that no forbidden input proves.
const unprovenFile = "invariants/unproven.txt"

// Unproven compares the checks that no forbidden input proves with the list of them, which
// only shrinks (X18). That a rule has one proven check is Verify's.
func Unproven(records []Record, m *Module) []Finding {
	listed := map[string]bool{}
	for line := range strings.Lines(string(m.Files[unprovenFile])) {
		listed[strings.TrimSpace(line)] = true
	}
	var out []Finding
	found := unproven(records, m)
	for _, name := range sortedKeys(found) {
		if !listed[name] {
			id, _, _ := strings.Cut(name, " ")
			out = append(out, Finding{"invariants/records: " + id, "has a check that nothing proves (X18): " + found[name], "name a `bad` test that wants a refusal, or a `break` that the check must find"})
		}
	}
	for _, name := range sortedKeys(listed) {
		if found[name] == "" {
			out = append(out, Finding{unprovenFile, name + " is proven or gone, and listed (X18)", "go test ./invariants -run TestUnproven -update"})
		}
	}
	return out
}

// unproven is why each check that nothing proves is so, by `id test`.
func unproven(records []Record, m *Module) map[string]string {
	s, out := newSuite(m), map[string]string{}
	for _, r := range records {
		for _, c := range r.Checks {
			if why := s.unproven(c); why != "" {
				out[r.ID+" "+c.Test] = why
			}
		}
	}
	return out
}

func rank(s Status) int { return slices.Index(statuses, s) }
