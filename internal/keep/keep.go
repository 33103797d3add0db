// Package keep lets a test say which of the project's rules it keeps.
//
// In: a test and the ids of rules. Out: when the test fails, one line for each id, so
// that whoever broke a rule learns its name and where to read it. It decides nothing.
// Rules kept: X18.
package keep

import "testing"

// Rule names the rules that t's failure would mean are broken. Call it first.
func Rule(t testing.TB, ids ...string) {
	t.Helper()
	t.Cleanup(func() {
		for _, id := range ids {
			if t.Failed() {
				t.Logf("breaks %s: go run ./cmd/blis invariants show %s", id, id)
			}
		}
	})
}
