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

func rank(s Status) int { return slices.Index(statuses, s) }
