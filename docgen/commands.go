package docgen

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func commands(roots []*cobra.Command) string {
	var b strings.Builder
	for _, r := range roots {
		command(&b, r)
	}
	return b.String()
}

// command writes one command and those below it, in cobra's own sorted order.
func command(b *strings.Builder, c *cobra.Command) {
	if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
		return
	}
	fmt.Fprintf(b, "## %s\n\n%s.\n\n```text\n%s\n```\n\n", c.CommandPath(), cell(sentence(c.Short)), c.UseLine())
	if c.Long != "" {
		fmt.Fprintf(b, "%s\n\n", cell(c.Long))
	}
	var rows [][]string
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && !f.Hidden {
			rows = append(rows, []string{code("--" + f.Name), f.Usage, code(preset(f))})
		}
	})
	if len(rows) > 0 {
		b.WriteString(table([]string{"flag", "meaning", "default"}, rows) + "\n")
	}
	for _, sub := range c.Commands() {
		command(b, sub)
	}
}

func sentence(s string) string {
	s = strings.TrimSuffix(s, ".")
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// preset is a flag's default; one that depends on the machine is said in words.
func preset(f *pflag.Flag) string {
	if f.Name == "jobs" {
		return "one a core"
	}
	return f.DefValue
}
