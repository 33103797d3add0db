package doccheck

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/invariants"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var (
	flagWord = regexp.MustCompile(`(?:^|[\s(\[|"])--([a-z][a-z0-9-]*)`)
	span     = regexp.MustCompile("`[^`]+`") // a command, whoever's it is
)

// Help finds the commands and flags that the texts of a program name and its tree does
// not have: usage lines, examples, descriptions of commands and flags, messages.
func Help(root *cobra.Command, t *Tree) (out []invariants.Finding) {
	out = help(root, t)
	for _, f := range t.Module.Go {
		if f.Dir() != "cmd/"+root.Name() || f.Test() {
			continue
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			l, ok := n.(*ast.BasicLit)
			if !ok || l.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(l.Value)
			for _, name := range flagWord.FindAllStringSubmatch(span.ReplaceAllString(text, ""), -1) {
				if err == nil && name[1] != "help" && !has(root, name[1]) {
					out = append(out, invariants.Finding{Where: f.At(l.Pos()), Problem: "no command has the flag --" + name[1] + " (X26)", Fix: "name a flag that there is"})
				}
			}
			return true
		})
	}
	return out
}

// help checks the texts of c and of the commands below it.
func help(c *cobra.Command, t *Tree) (out []invariants.Finding) {
	say := func(part, problem string) {
		out = append(out, invariants.Finding{Where: c.CommandPath() + ": " + part, Problem: problem + " (X26)", Fix: "write the text for the command as it is now"})
	}
	for line := range strings.Lines(c.Example) {
		if words := shellWords(line); len(words) > 0 {
			if problem, known := t.command(words); problem != "" || !known {
				say("example", fmt.Sprintf("%q: %s", strings.TrimSpace(line), problem))
			}
		}
	}
	texts := map[string]string{"usage": c.Use, "short": c.Short, "long": c.Long}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) { texts["--"+f.Name] = f.Usage })
	for part, text := range texts {
		for _, s := range span.FindAllString(text, -1) {
			if problem, _ := t.command(shellWords(strings.Trim(s, "`"))); problem != "" {
				say(part, s+": "+problem)
			}
		}
		text = span.ReplaceAllString(text, "")
		for _, name := range flagWord.FindAllStringSubmatch(text, -1) {
			if lookup(c, name[1]) == nil && !quoted(text, name[0]) {
				say(part, "the command has no flag --"+name[1])
			}
		}
	}
	for _, sub := range c.Commands() {
		out = append(out, help(sub, t)...)
	}
	return out
}

// quoted says that word stands between quotes, as another program's flags do.
func quoted(text, word string) bool {
	at := strings.Index(text, word)
	return strings.Count(text[:at], "'")%2 == 1 && strings.Contains(text[at:], "'")
}
