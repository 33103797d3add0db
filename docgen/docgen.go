// Package docgen renders documents from what owns their facts: the metric
// registry, the documents' Go types, the rules' records, the command trees, the
// engines' lists, the coefficients, layers.txt.
//
// In: the owners. Out: files by path relative to the module, ready to be written
// or compared. It writes nothing itself and decides nothing. Rules kept: X7, X26, SUB-19.
package docgen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
	"github.com/inference-sim/accuracy-dashboard/invariants"
	"github.com/inference-sim/accuracy-dashboard/registry"
	"github.com/spf13/cobra"
)

// Input is the owners whose facts are rendered.
type Input struct {
	Commands []*cobra.Command // the trees of this program
	Others   []string         // programs whose pages Program renders
	Engines  []engines.Kind
	Records  []invariants.Record
	Registry *registry.Registry
	Layers   *invariants.Layers
	Policy   string            // text of layers.txt
	Packages map[string]string // folder to the first sentence of its package comment
	Prices   []Price
	Fits     Fits
}

// Price is the price of one reference step. A price that changes shows in the file
// that lists them, and from there in the release notes.
type Price struct {
	Name    string           `json:"name"`
	Seconds quantity.Seconds `json:"seconds"`
	Method  string           `json:"method"` // least trusted of its coefficients
}

// dir is where generated pages live.
const dir = "content/generated/"

// Files renders every generated file: path relative to the module to bytes.
func Files(in Input) (map[string][]byte, error) {
	out := map[string][]byte{
		"AGENTS.md":                        []byte(agents(in)),
		".github/pull_request_template.md": []byte(pullRequest(in.Records)),
		dir + "imports.svg":                []byte(graph(in.Layers)),
	}
	var index [][]string
	page := func(name, title, lead, body string) {
		index = append(index, []string{"[" + title + "](/reference/" + name + "/)", lead})
		out[dir+name+".md"] = []byte(front(title, lead, "/reference/"+name+"/", 10*len(index)) + body)
	}
	page("metrics", "Metrics", "Every figure that is reported or compared, defined once.", metrics())
	names, err := schemas(out)
	if err != nil {
		return nil, err
	}
	page("schemas", "Documents", "The JSON Schema of every document that is read or written.", names)
	page("commands", "Commands", "Every command of the simulator, with its flags.", commands(in.Commands))
	for _, name := range in.Others {
		index = append(index, []string{"[Commands of " + name + "](/reference/commands-" + name + "/)", commandsLead(name)})
	}
	page("invariants", "Rules", "What the project holds itself to, where each rule is checked, and how far.", rules(in.Records, nil))
	page("checks", "Checks of the rules", "The tests of each rule, and what each is seen to refuse.", checks(in.Records))
	page("maintainers", "Maintainer checklist", "Rules that a person keeps for the repository as a whole.", checklist(in.Records))
	page("imports", "Who may import whom", "The packages from the ground up, and the policy that orders them.", imports(in))
	trusted, err := coefficients(in.Registry)
	if err != nil {
		return nil, err
	}
	page("coefficients", "Coefficients", "How far each price can be trusted: its method, its data, its error on shapes it never saw.", trusted)
	errors, err := fits(in.Fits, out)
	if err != nil {
		return nil, err
	}
	page("fits", "How good each method is", "Fits against data they never saw: operators on unseen shapes and chips, whole runs with their lane left out.", errors)
	page("prices", "Prices of reference steps", "One step each of a few models, so that a changed price is seen.", prices(in.Prices))
	page("upstreams", "Modelled releases", "Which upstream each engine port follows, and why that one.", upstreams(in.Engines))
	for _, k := range in.Engines {
		page("fields-"+k.Name(), "Settings of "+k.Name(), "Every setting of the modelled release and what the port does with it.", fieldList(k))
		list, err := surface(k)
		if err != nil {
			return nil, err
		}
		page("surface-"+k.Name(), "Features of "+k.Name(), "Every feature the modelled release registers, and whether it is modelled.", list)
	}
	if out[dir+"prices.json"], err = canon.Indent(in.Prices); err != nil {
		return nil, err
	}
	out[dir+"index.md"] = []byte(front("Reference", "Rendered from what owns each fact, and compared with it in a test.", "/reference/", 0) + table([]string{"page", "what it holds"}, index))
	return out, nil
}

func commandsLead(program string) string { return "Every command of " + program + ", with its flags." }

// Program renders the command page of one more program.
func Program(root *cobra.Command) (path string, page []byte) {
	name := "commands-" + root.Name()
	return dir + name + ".md", []byte(front("Commands of "+root.Name(), commandsLead(root.Name()), "/reference/"+name+"/", 35) + commands([]*cobra.Command{root}))
}

func front(title, lead, url string, weight int) string {
	return fmt.Sprintf("---\ntitle: %s\ndescription: %s\nurl: %s\nweight: %d\nparams:\n  lead: %s\n  reader: contributor\n  generated: true\n---\n\n",
		quoted(title), quoted(lead), url, weight, quoted(lead))
}

func quoted(s string) string { return strconv.Quote(s) }

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
