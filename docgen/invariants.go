package docgen

import (
	"fmt"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/invariants"
)

// statusWords say what a status means, for people.
var statusWords = map[invariants.Status]string{
	invariants.CI: "checked in full, in every run of the tests", invariants.Partial: "partly checked",
	invariants.Review: "judged by people", invariants.New: "not checked yet",
}

// Measured is the generated page of rules with how their checks ended on one tree.
func Measured(page []byte, records []invariants.Record, run *invariants.Run) []byte {
	const end = "\n---\n\n"
	head, _, _ := strings.Cut(string(page), end)
	return []byte(head + end + rules(records, run))
}

// rules is the body of the page; without a run, statuses are what the records declare.
func rules(records []invariants.Record, run *invariants.Run) string {
	var b strings.Builder
	b.WriteString(measured(run))
	count := map[invariants.Status]int{}
	for _, r := range records {
		count[r.Status]++
	}
	var summary [][]string
	for _, s := range invariants.Statuses() {
		summary = append(summary, []string{code(string(s)), statusWords[s], fmt.Sprint(count[s])})
	}
	b.WriteString(table([]string{"status", "meaning", "rules"}, summary) + "\n")
	head, index := []string{"rule", "in short", "status", "kind"}, [][]string{}
	if run != nil {
		head = append(head, "last run")
	}
	for i, r := range records {
		row := []string{fmt.Sprintf("[%s](#%s)", r.ID, r.ID), r.Title, code(string(r.Status)), string(r.Kind)}
		if run != nil {
			row = append(row, run.Rules[i].Result())
		}
		index = append(index, row)
	}
	b.WriteString(table(head, index) + "\n")
	for _, r := range records {
		rule(&b, r)
	}
	return b.String()
}

// measured says what stands behind the statuses.
func measured(run *invariants.Run) string {
	if run == nil {
		return "The status of a rule is what its record declares; tests hold the record to the sources. Whether the checks passed is known only of a run of them, and this page was made without one.\n\n"
	}
	held, failed, proven, checks := 0, 0, 0, 0
	for _, m := range run.Rules {
		proven, checks = proven+m.Proven, checks+m.Checks
		switch {
		case len(m.Failed) > 0:
			failed++
		case m.Checks > 0:
			held++
		}
	}
	return fmt.Sprintf("The status of a rule is what its record declares. The checks ran on commit %s, whose sources have the digest %s: %d rules held and %d failed, %d have no check. Of %d checks, %d were seen to refuse what they must.\n\n",
		code(run.Commit), code(run.Tree), held, failed, len(run.Rules)-held-failed, checks, proven)
}

func rule(b *strings.Builder, r invariants.Record) {
	fmt.Fprintf(b, "## %s: %s {#%s}\n\n%s\n\n**Why.** %s\n\n", r.ID, cell(r.Title), r.ID, cell(r.Statement), cell(r.Why))
	item := func(name, text string) { fmt.Fprintf(b, "- %s: %s\n", name, text) }
	item("status", fmt.Sprintf("%s; %s; Target Design %s", statusWords[r.Status], r.Kind, cell(r.Section)))
	if len(r.Scope) > 0 {
		item("where", "`"+strings.Join(r.Scope, "`, `")+"`")
	}
	if r.Target != "" {
		item("missing", cell(r.Target))
	}
	if r.Became != "" {
		item("in this module", cell(r.Became))
	}
	if r.Ask != "" {
		item("reviewer answers", cell(r.Ask+" Asked when "+r.Applies+"."))
	}
	if r.Practice != "" {
		item("maintainers keep", cell(r.Practice))
	}
	if r.Guidance != "" {
		item("authors of a change follow", cell(r.Guidance))
	}
	if n := len(r.Checks); n > 0 {
		item("checked by", fmt.Sprintf("[tests: %d](/reference/checks/#%s)", n, r.ID))
	}
	b.WriteString("\n")
}

// checks is a page of its own: the rules' page stays light enough to read.
func checks(records []invariants.Record) string {
	var b strings.Builder
	for _, r := range records {
		if len(r.Checks) == 0 {
			continue
		}
		fmt.Fprintf(&b, "## [%s](inv:%s): %s {#%s}\n\n", r.ID, r.ID, cell(r.Title), r.ID)
		for _, c := range r.Checks {
			b.WriteString("- " + code(c.Test))
			if c.Bad != c.Test {
				b.WriteString(", which must reject what " + code(c.Bad) + " feeds it")
			}
			if c.Break != nil {
				b.WriteString(", which must fail when " + code(c.Break.File) + " reads " + code(oneLine(c.Break.To)) + " for " + code(oneLine(c.Break.From)))
			}
			b.WriteString("\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// oneLine is a text without its line breaks.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
