package doccheck

import (
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/invariants"
	"github.com/yuin/goldmark/ast"
)

var (
	placeholder = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
	pathLike    = regexp.MustCompile(`^\.?[\w.*{}-]+(/[\w.*{}-]+)*/?$`)
	fileLike    = regexp.MustCompile(`^[\w-]+\.(go|ya?ml|json|md|txt|mod|sum|svg|cff)$`)
	exported    = regexp.MustCompile(`^(?:[a-z]\w*\.)?[A-Z]\w*(?:\.[A-Z]\w*)?$`)
	qualified   = regexp.MustCompile(`\b([a-z]\w*)\.[A-Z]\w*\b`)
	metricLike  = regexp.MustCompile(`^[a-z0-9_]+_(mean|p\d+)$`)
)

// Contributor finds what a page for contributors points at and the tree does not have.
func Contributor(name string, data []byte, t *Tree) []invariants.Finding {
	p := parse(name, data)
	for _, id := range invariants.ID.FindAllString(string(p.src), -1) {
		if !t.Rules[id] {
			p.add(p.root, "correct the id, or add its record", "names the rule %s, which has no record", id)
		}
	}
	p.walk(func(n ast.Node, s string) { p.span(n, s, t) },
		func(n ast.Node, language, s string) {
			p.script(n, language, s, t)
			if language == "" || language == "text" {
				p.drawing(n, s, t)
			}
		},
		func(n ast.Node, to string) { p.link(n, to, t) }, func(ast.Node, string) {})
	return p.found
}

// Commands finds what any page tells a reader to run and the programs do not have.
func Commands(name string, data []byte, t *Tree) []invariants.Finding {
	p := parse(name, data)
	others := p.showsOthers(t)
	p.walk(func(n ast.Node, s string) { p.flag(n, s, t, p.command(n, s, t) || others) },
		func(n ast.Node, language, s string) { p.script(n, language, s, t) },
		func(ast.Node, string) {}, func(ast.Node, string) {})
	return p.found
}

// command checks s when it is a command of the project's own, and says whether it is.
func (p *page) command(n ast.Node, s string, t *Tree) bool {
	words := shellWords(s)
	if len(words) == 0 {
		return false
	}
	problem, known := t.command(words)
	if problem != "" {
		p.add(n, "write the command as it is now", "%q: %s", s, problem)
	}
	return known && (len(words) > 1 || strings.HasPrefix(s, "blis"))
}

// span checks one code span by what it looks like.
func (p *page) span(n ast.Node, s string, t *Tree) {
	words := strings.Fields(s)
	if len(words) == 0 || placeholder.MatchString(s) || p.command(n, s, t) {
		return
	}
	switch {
	case strings.HasPrefix(s, "--"):
		p.flag(n, s, t, false)
	case len(words) > 1:
	case metricLike.MatchString(s):
		if !t.Metrics[s] {
			p.add(n, "name an id of sim/metric", "%s is no metric", s)
		}
	case strings.Contains(s, "/") && pathLike.MatchString(s), t.Module.Folders[s]:
		if !t.exists(s) && !t.exists(strings.TrimSuffix(s, path.Ext(s))) {
			p.add(n, "name the path as it is now", "%s does not exist", s)
		}
	case fileLike.MatchString(s):
		if !t.bases[s] {
			p.add(n, "name the file as it is now", "no file is called %s", s)
		}
	case exported.MatchString(s):
		if last := s[strings.LastIndexByte(s, '.')+1:]; !t.names[s] && !t.names[last] || strings.Count(s, ".") == 1 && !t.names[s] {
			p.add(n, "name the symbol as it is now", "the module has no %s", s)
		}
	}
}

// showsOthers says that a block of the page runs a program that is not the project's, whose
// flags the page may then name.
func (p *page) showsOthers(t *Tree) (found bool) {
	for line := range strings.Lines(p.blocks()) {
		if words := shellWords(line); len(words) > 1 && strings.HasPrefix(words[1], "-") || len(words) > 2 && strings.HasPrefix(words[2], "-") {
			_, known := t.command(words)
			found = found || !known
		}
	}
	return found
}

// programs are the project's own that the page shows a command of.
func (p *page) programs(t *Tree) (out []string) {
	see := func(s string) {
		words := shellWords(s)
		if len(words) > 1 && words[0] == "go" && words[1] == "run" {
			words = []string{path.Base(strings.Join(words[2:min(3, len(words))], ""))}
		}
		if len(words) > 0 && t.flags[words[0]] != nil {
			out = append(out, words[0])
		}
	}
	p.walk(func(_ ast.Node, s string) { see(s) }, func(_ ast.Node, _, s string) {
		for line := range strings.Lines(s) {
			see(strings.TrimPrefix(strings.TrimSpace(line), "$ "))
		}
	}, func(ast.Node, string) {}, func(ast.Node, string) {})
	return out
}

// flag checks a span that begins with a flag, unless it is known to be right: a program
// that the page shows a command of has it, or any where the page shows none.
func (p *page) flag(n ast.Node, s string, t *Tree, right bool) {
	word, _, _ := strings.Cut(s, " ")
	name, isFlag := strings.CutPrefix(word, "--")
	if name, _, _ = strings.Cut(name, "="); isFlag && !right && !t.flag(name, p.programs(t)) && !strings.Contains(p.blocks(), word) {
		p.add(n, "name a flag of the programs", "no program of the page has the flag %s", word)
	}
}

// blocks is the text of the page's fenced blocks, which may show other programs' flags.
func (p *page) blocks() string {
	var b strings.Builder
	p.walk(func(ast.Node, string) {}, func(_ ast.Node, _, s string) { b.WriteString(s) }, func(ast.Node, string) {}, func(ast.Node, string) {})
	return b.String()
}

// script checks each command of a block that is the project's own: every line of a
// shell's, and what stands after a prompt in any other.
func (p *page) script(n ast.Node, language, s string, t *Tree) {
	for line := range strings.Lines(strings.ReplaceAll(s, "\\\n", " ")) {
		line, prompt := strings.CutPrefix(strings.TrimSpace(line), "$ ")
		if prompt || language == "sh" || language == "" {
			p.command(n, line, t)
		}
	}
}

// drawing checks the symbols of the module's packages in a block that is no code.
func (p *page) drawing(n ast.Node, s string, t *Tree) {
	for _, m := range qualified.FindAllStringSubmatch(s, -1) {
		if t.packages[m[1]] && !t.names[m[0]] {
			p.add(n, "name the symbol as it is now", "the module has no %s", m[0])
		}
	}
}

// link checks addresses of the site, rules, and files beside the page.
func (p *page) link(n ast.Node, to string, t *Tree) {
	u, err := url.Parse(to)
	switch {
	case err != nil:
		p.add(n, "", "%q is no address: %v", to, err)
	case strings.HasPrefix(to, "inv:"):
		if id := strings.TrimPrefix(to, "inv:"); !t.Rules[id] {
			p.add(n, "correct the id, or add its record", "links to the rule %s, which has no record", id)
		}
	case u.Scheme != "" || u.Host != "" || u.Path == "": // addresses elsewhere are not fetched
	case strings.HasPrefix(to, "/"):
		if !t.Pages[u.Path] {
			p.add(n, "link to a page of the site", "the site has no page %s", u.Path)
		}
	case !t.exists(path.Join(path.Dir(p.path), u.Path)):
		p.add(n, "link to a file beside the page", "%s does not exist", to)
	}
}
