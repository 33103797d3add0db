package docgen

import (
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/fields"
)

// surface lists an engine's features; a kind without a list says so.
func surface(k engines.Kind) (string, error) {
	lister, ok := k.(interface {
		Surface() (*fields.Surface, error)
	})
	if !ok {
		return "This port has no surface list yet.\n", nil
	}
	s, err := lister.Surface()
	if err != nil {
		return "", err
	}
	var rows, summary [][]string
	for status, n := range s.Counts() {
		summary = append(summary, []string{string(status), fmt.Sprint(n)})
	}
	for _, it := range s.Items {
		rows = append(rows, []string{it.Table, code(it.Name), string(it.Status), it.Reason, it.Evidence})
	}
	sortRows(summary)
	return table([]string{"status", "features"}, summary) + "\n" +
		table([]string{"registered in", "name", "status", "reason", "evidence, or what it blocks"}, rows), nil
}

// upstreams lists the one release each port models (LIF-5).
func upstreams(kinds []engines.Kind) string {
	var rows [][]string
	for _, k := range kinds {
		up := k.Upstream()
		rows = append(rows, []string{k.Name(), up.Repository, code(up.Commit), up.Date, code(up.Version), up.Note})
	}
	return "A scenario that names another release is refused. A point that was measured on another build says so in its grade.\n\n" +
		table([]string{"engine", "repository", "commit", "date", "name in a scenario", "why this one"}, rows)
}
