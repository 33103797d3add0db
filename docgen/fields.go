package docgen

import (
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/fields"
)

func fieldList(k engines.Kind) string {
	l, up := k.Fields(), k.Upstream()
	count := map[fields.Status]int{}
	var rows [][]string
	for _, f := range l.Fields {
		count[f.Status]++
		rule := ""
		if f.Rule != nil {
			rule = f.Rule.Do + ": " + f.Rule.Reason
		}
		rows = append(rows, []string{code(f.Name), f.Kind, code(f.Default), string(f.Status), f.Evidence, rule})
	}
	var summary [][]string
	for _, s := range fields.Statuses() {
		summary = append(summary, []string{s, fmt.Sprint(count[fields.Status(s)])})
	}
	return fmt.Sprintf("Modelled release: %s at commit `%s` (%s). %s\n\n%s\n\n", up.Repository, up.Commit, up.Date, cell(up.Note), cell(l.Coverage)) +
		table([]string{"status", "settings"}, summary) + "\n" +
		table([]string{"name", "kind", "default", "status", "evidence", "when recorded and not modelled"}, rows)
}
