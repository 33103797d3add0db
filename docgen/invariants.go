package docgen

import (
	"fmt"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/invariants"
)

// statusWords say what a status means, for people.
var statusWords = map[invariants.Status]string{
	invariants.CI: "holds, checked in every run of the tests", invariants.Partial: "partly checked",
	invariants.Review: "judged by people", invariants.New: "not checked yet",
}

func rules(records []invariants.Record) string {
	var b strings.Builder
	count := map[invariants.Status]int{}
	for _, r := range records {
		count[r.Status]++
	}
	var summary [][]string
	for _, s := range invariants.Statuses() {
		summary = append(summary, []string{code(string(s)), statusWords[s], fmt.Sprint(count[s])})
	}
	b.WriteString(table([]string{"status", "meaning", "rules"}, summary) + "\n")
	var index [][]string
	for _, r := range records {
		index = append(index, []string{fmt.Sprintf("[%s](#%s)", r.ID, r.ID), r.Title, code(string(r.Status)), string(r.Kind)})
	}
	b.WriteString(table([]string{"rule", "in short", "status", "kind"}, index) + "\n")
	for _, r := range records {
		rule(&b, r)
	}
	return b.String()
}

func rule(b *strings.Builder, r invariants.Record) {
	fmt.Fprintf(b, "## %s: %s {#%s}\n\n%s\n\n**Why.** %s\n\n", r.ID, cell(r.Title), r.ID, cell(r.Statement), cell(r.Why))
	item := func(name, text string) { fmt.Fprintf(b, "- %s: %s\n", name, text) }
	item("status", fmt.Sprintf("%s, %s; %s; source Target Design %s", code(string(r.Status)), statusWords[r.Status], r.Kind, cell(r.Section)))
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
	var plain []string
	for _, c := range r.Checks {
		text := code(c.Test)
		if c.Bad != c.Test {
			text += ", which must reject what " + code(c.Bad) + " feeds it"
		}
		if c.Break != nil {
			text += ", which must fail when " + code(c.Break.File) + " reads " + code(oneLine(c.Break.To)) + " for " + code(oneLine(c.Break.From))
		}
		if text == code(c.Test) {
			plain = append(plain, text)
		} else {
			item("checked by", text)
		}
	}
	if plain != nil {
		item("checked by", strings.Join(plain, ", "))
	}
	b.WriteString("\n")
}

// oneLine is a text without its line breaks.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
