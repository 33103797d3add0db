package docgen

import (
	"fmt"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/fields"
)

// fieldList is one table a status, one row a reason: most reasons hold for many settings.
func fieldList(k engines.Kind) string {
	l, up := k.Fields(), k.Upstream()
	count := map[fields.Status]int{}
	var estimates [][]string
	for _, f := range l.Fields {
		count[f.Status]++
		if f.Rule != nil {
			estimates = append(estimates, []string{setting(f), f.Rule.Do, f.Rule.Reason})
		}
	}
	var summary [][]string
	for _, s := range fields.Statuses() {
		summary = append(summary, []string{"[" + strings.ReplaceAll(s, "_", " ") + "](#" + s + ")", fmt.Sprint(count[fields.Status(s)])})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Modelled release: %s at commit `%s` (%s). %s\n\n%s\n\n%s", up.Repository, up.Commit, up.Date, cell(up.Note), cell(l.Coverage), table([]string{"status", "settings"}, summary))
	for _, s := range fields.Statuses() {
		rows := reasons(l.Fields, fields.Status(s))
		if len(rows) > 0 {
			fmt.Fprintf(&b, "\n## %s {#%s}\n\n%s", strings.ReplaceAll(s, "_", " "), s, table([]string{evidenceWords[fields.Status(s)], "settings with their defaults"}, rows))
		}
	}
	if len(estimates) > 0 {
		b.WriteString("\n## What a run that recorded one gets {#recorded}\n\n" + table([]string{"setting", "treatment", "reason"}, estimates))
	}
	return b.String()
}

// evidenceWords name what stands for a status.
var evidenceWords = map[fields.Status]string{
	fields.Modelled: "test that shows it", fields.Inert: "why it changes nothing", fields.NotModelled: "why not, and what it does", fields.Removed: "what became of it",
}

// reasons are the settings of a status by their evidence, in the order of first settings.
func reasons(all []fields.Field, status fields.Status) [][]string {
	var rows [][]string
	at := map[string]int{}
	for _, f := range all {
		if f.Status != status {
			continue
		}
		i, ok := at[f.Evidence]
		if !ok {
			i = len(rows)
			at[f.Evidence] = i
			rows = append(rows, []string{f.Evidence, setting(f)})
			continue
		}
		rows[i][1] += ", " + setting(f)
	}
	return rows
}

// setting is a setting with its default.
func setting(f fields.Field) string {
	if f.Default == "" {
		return code(f.Name)
	}
	return code(f.Name + "=" + f.Default)
}
