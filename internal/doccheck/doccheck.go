// Package doccheck holds written pages to the tree they describe.
//
// In: a Markdown page, and what the tree has. Out: findings, each a place and what
// would mend it. A page for contributors may point at anything that exists: paths,
// symbols, commands, flags, metrics, rules, pages. A page for people may point at
// nothing that can go stale. Words are read from the page's syntax tree, never from
// its text. Rules kept: X26, X23 of the Target Design.
package doccheck

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/invariants"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// page is one parsed page.
type page struct {
	path  string
	src   []byte
	first int // lines of front matter before src
	root  ast.Node
	found []invariants.Finding
}

func parse(path string, data []byte) *page {
	p := &page{path: path, src: data}
	if rest, ok := bytes.CutPrefix(data, []byte("---\n")); ok {
		if i := bytes.Index(rest, []byte("\n---\n")); i >= 0 {
			p.src = rest[i+5:]
			p.first = bytes.Count(data[:len(data)-len(p.src)], []byte("\n"))
		}
	}
	p.root = goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(text.NewReader(p.src))
	return p
}

func (p *page) add(n ast.Node, fix, format string, args ...any) {
	p.found = append(p.found, invariants.Finding{Where: fmt.Sprintf("%s:%d", p.path, p.line(n)), Problem: fmt.Sprintf(format, args...) + " (X26)", Fix: fix})
}

// line is where n begins: the nearest text or block that knows.
func (p *page) line(n ast.Node) int {
	for ; n != nil; n = n.Parent() {
		if n.Type() == ast.TypeBlock && n.Lines().Len() > 0 {
			return p.first + 1 + bytes.Count(p.src[:n.Lines().At(0).Start], []byte("\n"))
		}
	}
	return p.first + 1
}

// walk visits code spans, fenced blocks, links and plain text.
func (p *page) walk(span func(n ast.Node, s string), block func(n ast.Node, language, s string), link func(n ast.Node, to string), plain func(n ast.Node, s string)) {
	ast.Walk(p.root, func(n ast.Node, in bool) (ast.WalkStatus, error) {
		if !in {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeSpan:
			var b strings.Builder
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				if t, ok := c.(*ast.Text); ok {
					b.Write(t.Segment.Value(p.src))
				}
			}
			span(n, b.String())
			return ast.WalkSkipChildren, nil
		case *ast.FencedCodeBlock:
			block(n, string(n.Language(p.src)), string(n.Lines().Value(p.src)))
		case *ast.Link:
			link(n, string(n.Destination))
		case *ast.Image:
			link(n, string(n.Destination))
		case *ast.Text:
			plain(n, string(n.Segment.Value(p.src)))
		}
		return ast.WalkContinue, nil
	})
}

var (
	folder  = regexp.MustCompile(`\b(catalog|registry|ledger|cost|engines|sim|harness|scorer|site|content|invariants|docgen|cmd|internal)/\w`)
	file    = regexp.MustCompile(`\b[\w-]+\.(go|ya?ml|json|md|txt|csv|toml)\b`)
	version = regexp.MustCompile(`\bv\d+\.\d+|\b\d+\.\d+\.\d+\b|\b[0-9a-f]{7,40}\b`)
	tally   = regexp.MustCompile(`(?i)\b\d+ (tests?|rules?|models?|chips?|engines?|units?|traces?|records?|settings?|packages?|coefficients?)\b`)
	symbol  = regexp.MustCompile(`^[a-z]\w*\.[A-Z]\w*|^[A-Z][a-z]+[A-Z]\w*$`)
)

// People finds what makes a page for people go stale: paths, symbols, versions, counts.
func People(path string, data []byte) []invariants.Finding {
	p := parse(path, data)
	const fix = "say the idea, and leave the detail to a generated page or a page for contributors"
	look := func(n ast.Node, s string) {
		for _, w := range []struct {
			what string
			is   *regexp.Regexp
		}{{"a path", folder}, {"a file", file}, {"a version", version}, {"a count", tally}} {
			if m := w.is.FindString(s); m != "" {
				p.add(n, fix, "a page for people holds %s, %q", w.what, m)
			}
		}
	}
	p.walk(func(n ast.Node, s string) {
		look(n, s)
		if symbol.MatchString(s) {
			p.add(n, fix, "a page for people holds a symbol, %q", s)
		}
	}, func(n ast.Node, _, s string) { look(n, s) }, func(ast.Node, string) {}, look)
	return p.found
}
