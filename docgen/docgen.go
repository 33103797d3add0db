// Package docgen renders documents from what owns their facts: the metric
// registry, the documents' Go types, the rules' records, the command trees, the
// engines' field lists, layers.txt.
//
// In: the owners. Out: files by path relative to the module, ready to be written
// or compared. It writes nothing itself. Rules kept: X7, X26, SUB-19.
package docgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/invariants"
	"github.com/spf13/cobra"
)

// Input is the owners whose facts are rendered.
type Input struct {
	Commands []*cobra.Command // one tree a binary
	Engines  []engines.Kind
	Records  []invariants.Record
	Layers   string // text of layers.txt
}

// dir is where generated pages live; the header says who writes them.
const dir = "content/generated/"

// Files renders every generated file: path to bytes.
func Files(in Input) (map[string][]byte, error) {
	out := map[string][]byte{}
	page := func(name, title, lead, body string, weight int) {
		out[dir+name+".md"] = []byte(front(name, title, lead, weight) + body)
	}
	page("metrics", "Metrics", "Every figure that is reported or compared, defined once.", metrics(), 10)
	page("commands", "Commands", "Every command of both programs, with its flags.", commands(in.Commands), 30)
	page("rules", "Rules", "What the project holds itself to, where each rule is checked, and whether it holds today.", rules(in.Records), 40)
	page("imports", "Who may import whom", "The module's packages from the ground up.", imports(in.Layers), 50)
	for _, k := range in.Engines {
		page("fields-"+k.Name(), "Settings of "+k.Name(), "Every setting of the modelled release and what the port does with it.", fieldList(k), 60)
	}
	names, err := schemas(out)
	if err != nil {
		return nil, err
	}
	page("schemas", "Documents", "The JSON Schema of every document that is read or written.", names, 20)
	return out, nil
}

func front(name, title, lead string, weight int) string {
	return fmt.Sprintf("---\ntitle: %s\ndescription: %s\nurl: /reference/%s/\nweight: %d\nparams:\n  lead: %s\n  generated: true\n---\n\n", title, lead, name, weight, lead)
}

// table writes a Markdown table; cells are escaped.
func table(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + cell(c) + " ")
		}
		b.WriteString("|\n")
	}
	line(head)
	line(slices.Repeat([]string{"---"}, len(head)))
	for _, r := range rows {
		line(r)
	}
	return b.String()
}

var escaper = strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;", "*", `\*`, "_", `\_`, "[", `\[`)

func cell(s string) string {
	if s == "---" || strings.HasPrefix(s, "`") || strings.HasPrefix(s, "[") {
		return strings.ReplaceAll(s, "|", `\|`)
	}
	return escaper.Replace(s)
}

// code is s in a code span, or nothing.
func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(s, "`", "'") + "`"
}
