package docgen

import "strings"

// imports shows the policy as it is written: it is meant to be read.
func imports(layers string) string {
	return "A line `a < b` lets b import a and all that a may import; `a !< b` forbids it whatever else is written. A package without a line fails the tests.\n\n```text\n" +
		strings.TrimSpace(layers) + "\n```\n"
}
