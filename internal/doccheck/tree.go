package doccheck

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/inference-sim/accuracy-dashboard/invariants"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Tree is what pages may point at.
type Tree struct {
	Module   *invariants.Module
	Commands []*cobra.Command // programs whose tree is at hand; others are known by their strings
	Rules    map[string]bool
	Metrics  map[string]bool
	Pages    map[string]bool // addresses the site makes, such as /method/

	names    map[string]bool            // exported names, alone and as package.Name
	packages map[string]bool            // names of packages
	bases    map[string]bool            // file names without their folder
	literals map[string]map[string]bool // first words of the strings of each program, its commands among them
	flags    map[string]map[string]bool // flags each program registers
	targets  map[string]bool
}

// Index makes t ready to be asked.
func (t *Tree) Index() *Tree {
	t.names, t.packages, t.bases, t.targets = map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	t.literals, t.flags = map[string]map[string]bool{}, map[string]map[string]bool{}
	for p := range t.Module.Files {
		t.bases[path.Base(p)] = true
	}
	for _, f := range t.Module.Go {
		t.collect(f)
	}
	for _, c := range t.Commands {
		t.flags[c.Name()] = map[string]bool{}
		each(c, func(f *pflag.Flag) { t.flags[c.Name()][f.Name] = true })
	}
	for _, m := range regexp.MustCompile(`(?m)^([a-z]+):`).FindAllSubmatch(t.Module.Files["Makefile"], -1) {
		t.targets[string(m[1])] = true
	}
	return t
}

func (t *Tree) collect(f *invariants.GoFile) {
	add := func(name *ast.Ident) {
		if name != nil && name.IsExported() {
			t.names[name.Name] = true
			t.names[f.Name.Name+"."+name.Name] = true
		}
	}
	program := path.Base(f.Dir())
	t.packages[f.Name.Name] = true
	if f.Name.Name == "main" && t.literals[program] == nil {
		t.literals[program], t.flags[program] = map[string]bool{}, map[string]bool{}
	}
	ast.Inspect(f.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			add(n.Name)
		case *ast.TypeSpec:
			add(n.Name)
		case *ast.ValueSpec:
			for _, name := range n.Names {
				add(name)
			}
		case *ast.Field:
			for _, name := range n.Names {
				add(name)
			}
		case *ast.CallExpr:
			if name := registers(n); name != "" && f.Name.Name == "main" && !f.Test() {
				t.flags[program][name] = true
			}
		case *ast.BasicLit:
			if s, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && f.Name.Name == "main" {
				word, _, _ := strings.Cut(s, " ")
				t.literals[program][word] = true
			}
		}
		return true
	})
}

var setter = regexp.MustCompile(`^(?:Bool|Int|Float64|String|StringArray|StringSlice)(Var)?$`)

// registers is the flag that a call of a flag set's methods adds, or "".
func registers(c *ast.CallExpr) string {
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	m, at := setter.FindStringSubmatch(sel.Sel.Name), 0
	if m != nil && m[1] != "" {
		at = 1 // after the variable
	}
	if m == nil || len(c.Args) < at+3 { // name, default and usage
		return ""
	}
	l, ok := c.Args[at].(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return ""
	}
	return strings.Trim(l.Value, `"`)
}

// exists says that p, relative to the module, is a file or a folder, or matches one.
func (t *Tree) exists(p string) bool {
	p = strings.TrimSuffix(strings.TrimPrefix(p, "./"), "/")
	p = strings.TrimSuffix(p, "/...")
	if _, ok := t.Module.Files[p]; ok || t.Module.Folders[p] {
		return true
	}
	for f := range t.Module.Files {
		if ok, err := path.Match(p, f); ok && err == nil {
			return true
		}
	}
	return false
}

// shellWords splits a line as a shell does, up to a comment or the next command: a
// quoted text is one word.
func shellWords(line string) (out []string) {
	word, quote, inside := "", rune(0), false
	end := func() {
		if inside {
			out = append(out, word)
		}
		word, inside = "", false
	}
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, inside = c, true
		case quote == 0 && unicode.IsSpace(c):
			end()
		case quote == 0 && !inside && c == '#', quote == 0 && strings.ContainsRune("|;&>", c):
			end()
			return out
		default:
			word, inside = word+string(c), true
		}
	}
	end()
	return out
}

// command says what is wrong with a line of words, or "". known is false for a program
// that is not the project's.
func (t *Tree) command(words []string) (problem string, known bool) {
	program := words[0]
	args := words[1:]
	switch {
	case program == "make" && len(args) > 0:
		if !t.targets[args[0]] {
			return "the Makefile has no target " + args[0], true
		}
		return "", true
	case program == "go" && len(args) > 1 && (args[0] == "run" || args[0] == "doc" || args[0] == "test") && strings.HasPrefix(args[1], "./"):
		if !t.exists(args[1]) {
			return args[1] + " does not exist", true
		}
		if args[0] != "run" {
			return "", true
		}
		program, args = path.Base(args[1]), args[2:]
	}
	for _, c := range t.Commands {
		if c.Name() == program {
			return within(c, args), true
		}
	}
	literals, ok := t.literals[program]
	if !ok {
		return "", false
	}
	for _, a := range args {
		if name, isFlag := strings.CutPrefix(a, "--"); isFlag {
			if name, _, _ = strings.Cut(name, "="); name != "help" && !t.flags[program][name] {
				return program + " has no flag --" + name, true
			}
		}
	}
	if len(args) > 0 && regexp.MustCompile(`^[a-z]+$`).MatchString(args[0]) && !literals[args[0]] {
		return program + " has no command " + args[0], true
	}
	return "", true
}

// within follows args down a command tree and looks its flags up.
func within(c *cobra.Command, args []string) string {
	if len(args) > 0 && (args[0] == "help" || args[0] == "completion") {
		return "" // cobra's own
	}
	for len(args) > 0 && regexp.MustCompile(`^[a-z][a-z-]*$`).MatchString(args[0]) && c.HasSubCommands() {
		sub := find(c, args[0])
		if sub == nil {
			break
		}
		c, args = sub, args[1:]
	}
	if c.HasSubCommands() && len(args) > 0 && regexp.MustCompile(`^[a-z]`).MatchString(args[0]) && !strings.Contains(c.Use, "[") {
		return c.CommandPath() + " has no command " + args[0]
	}
	for _, a := range args {
		name, isFlag := strings.CutPrefix(a, "--")
		name, _, _ = strings.Cut(name, "=")
		if isFlag && name != "help" && lookup(c, name) == nil {
			return c.CommandPath() + " has no flag --" + name
		}
	}
	return ""
}

func find(c *cobra.Command, name string) *cobra.Command {
	for _, sub := range c.Commands() {
		if sub.Name() == name {
			return sub
		}
	}
	return nil
}

func lookup(c *cobra.Command, name string) *pflag.Flag {
	if f := c.Flags().Lookup(name); f != nil {
		return f
	}
	return c.InheritedFlags().Lookup(name)
}

// flag says that one of the programs, or any where none is named, has the flag.
func (t *Tree) flag(name string, programs []string) bool {
	for program, flags := range t.flags {
		if (len(programs) == 0 || slices.Contains(programs, program)) && flags[name] {
			return true
		}
	}
	return name == "help"
}

// each calls see for every flag of c and of the commands below it.
func each(c *cobra.Command, see func(*pflag.Flag)) {
	c.Flags().VisitAll(see)
	c.PersistentFlags().VisitAll(see)
	for _, sub := range c.Commands() {
		each(sub, see)
	}
}

// has says that c or a command below it has the flag.
func has(c *cobra.Command, name string) bool {
	return lookup(c, name) != nil || slices.ContainsFunc(c.Commands(), func(sub *cobra.Command) bool { return has(sub, name) })
}
