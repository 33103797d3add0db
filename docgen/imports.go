package docgen

import "strings"

// imports shows the policy as it is written: it is meant to be read.
func imports(in Input) string {
	var rows [][]string
	for _, dir := range sorted(in.Packages) {
		rows = append(rows, []string{code(dir), in.Packages[dir]})
	}
	return "A package stands above everything it may import. A line leads to each package it needs that nothing else it needs already leads to.\n\n" +
		"![Packages in layers, with a line from each to what it may import](/reference/imports.svg)\n\n" +
		"## The policy\n\nA line `a < b` lets b import a and all that a may import; `a !< b` forbids it whatever else is written. A package without a line fails the tests.\n\n```text\n" +
		strings.TrimSpace(in.Policy) + "\n```\n\n## The packages\n\n" + table([]string{"folder", "what it is"}, rows)
}
