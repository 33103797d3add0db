package page

import (
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/plot"
)

// markup is the HTML of one page's blocks. root leads from the page to the root of the site.
//
// Note: blocks were templates once. Their values are most of a site, so a build of many points
// spent its time and its memory on them.
type markup struct {
	strings.Builder
	root string
	live bool // charts have an option that a script draws
	// simulator is the size of its module, or empty.
	simulator string
}

var esc = html.EscapeString

// put writes s as it stands; text of records goes through say or esc.
func (m *markup) put(s ...string) {
	for _, x := range s {
		m.WriteString(x)
	}
}

// say writes an element with a text.
func (m *markup) say(open, text, end string) { m.put(open, esc(text), end) }

// href is the start of a link to a path of the site.
func (m *markup) href(path string) string { return `<a href="` + esc(m.root+path) + `"` }

// render makes the HTML of d's blocks.
func (d *Doc) render(live bool, simulator string) {
	m := &markup{root: strings.Repeat("../", strings.Count(d.Path, "/")), live: live, simulator: simulator}
	if m.root == "" {
		m.root = "./"
	}
	if d.Path != "" { // the home page says where to go in words
		m.onThisPage(d.Blocks)
	}
	for i := range d.Blocks {
		m.block(&d.Blocks[i])
	}
	d.Body, d.Charts = m.String(), hasChart(d.Blocks)
}

// onThisPage lists the blocks of a page that is too long to take in at once.
func (m *markup) onThisPage(blocks []Block) {
	const long = 8
	titled := slices.DeleteFunc(slices.Clone(blocks), func(b Block) bool { return b.Title == "" || b.ID == "" || b.Fold })
	if len(titled) < long {
		return
	}
	m.put(`<nav class="contents" aria-label="On this page"><ul>`)
	for _, b := range titled {
		m.put("\n", `<li><a href="#`, esc(b.ID), `">`, esc(b.Title), "</a></li>")
	}
	m.put("\n</ul></nav>\n")
}

func hasChart(blocks []Block) bool {
	for i := range blocks {
		if c := blocks[i].Chart; c != nil && c.Few == "" || hasChart(blocks[i].Blocks) {
			return true
		}
	}
	return false
}

func (m *markup) block(b *Block) {
	tag, id := "div", ""
	if b.ID != "" {
		id = ` id="` + esc(b.ID) + `"`
	}
	if b.Title != "" {
		tag = "section"
	}
	m.put("<", tag, id, ` class="block b-`, b.Kind, `">`)
	if b.Title != "" {
		m.say("\n<h2>", b.Title, "")
		if b.ID != "" {
			m.put(` <a class="perma" href="#`, esc(b.ID), `" aria-label="Link to `, esc(b.Title), `">#</a>`)
		}
		m.put("</h2>")
	}
	if b.Note != "" {
		m.say("\n<p class=\"note\">", b.Note, "</p>")
	}
	if b.Fold {
		m.put("\n<details><summary>Show")
		if b.Table != nil {
			m.put(" ", plural(len(b.Table.Rows), "row"))
		}
		m.put("</summary>")
	}
	m.put("\n")
	if content := contents[b.Kind]; content != nil {
		content(m, b)
	}
	if b.Fold {
		m.put("</details>\n")
	}
	m.put("</", tag, ">\n")
}

// contents writes what is inside a block of each kind; a block of parts holds blocks.
var contents map[string]func(*markup, *Block)

func init() {
	contents = map[string]func(*markup, *Block){
		"text": texts, "facts": facts, "links": links, "figures": figures, "chart": chart, "bar": bar, "code": codes, "explorer": explorer,
		"rerun": rerun, "workbench": workbench,
		"table":   func(m *markup, b *Block) { b.Table.render(m, b.Title != "") },
		"picture": func(m *markup, b *Block) { m.put(b.Picture) },
		"group":   parts,
		"pair": func(m *markup, b *Block) {
			m.put(`<div class="pair">`, "\n")
			parts(m, b)
			m.put("</div>\n")
		},
	}
}

func parts(m *markup, b *Block) {
	for i := range b.Blocks {
		m.block(&b.Blocks[i])
	}
}

func texts(m *markup, b *Block) {
	for _, p := range b.Paragraphs {
		m.say("<p>", p, "</p>\n")
	}
	if len(b.Items) == 0 {
		return
	}
	m.put("<ul>")
	for _, item := range b.Items {
		m.say("<li>", item, "</li>\n")
	}
	m.put("</ul>\n")
}

func facts(m *markup, b *Block) {
	m.put(`<dl class="facts">`)
	for _, f := range b.Facts {
		m.put("\n<div")
		if len(f.Value) > 40 {
			m.put(` class="wide"`)
		}
		m.say("><dt>", f.Name, "</dt><dd>")
		if f.Href != "" {
			m.say(m.href(f.Href)+">", f.Value, "</a>")
		} else {
			m.put(esc(f.Value))
		}
		m.put("</dd></div>")
	}
	m.put("\n</dl>\n")
}

func links(m *markup, b *Block) {
	m.put(`<ul class="links">`)
	for _, f := range b.Facts {
		m.say("<li>"+m.href(f.Href)+">", f.Name, "</a>")
		if f.Value != "" {
			m.say(" <span>", f.Value, "</span>")
		}
		m.put("</li>\n")
	}
	m.put("</ul>\n")
}

func figures(m *markup, b *Block) {
	alike := func(of func(Figure) string) bool {
		return !slices.ContainsFunc(b.Figures, func(f Figure) bool { return of(f) != of(b.Figures[0]) })
	}
	scope, covers := alike(func(f Figure) string { return f.Scope }), alike(func(f Figure) string { return f.Covers })
	m.put(`<div class="figures">`)
	for _, f := range b.Figures {
		class := "value"
		if f.Few {
			class = "value few"
		}
		m.say("\n<div class=\"figure\"><p class=\"name\">", f.Name, "</p>")
		m.say("\n<p class=\""+class+"\">", f.Value, "</p>")
		if f.Interval != "" {
			m.say("\n<p class=\"interval\">", f.Interval, "</p>")
		}
		rests := f.Count
		if !scope {
			rests += " · " + f.Scope
		}
		if !covers {
			rests += " · " + f.Covers
		}
		m.say("\n<p class=\"rests\">", rests, "</p></div>")
	}
	m.put("\n</div>\n")
	if len(b.Figures) == 0 || !scope && !covers {
		return
	}
	m.put(`<p class="rests">`) // what all of them say is said once
	if f := b.Figures[0]; scope && f.Scope != "" {
		m.say("Over ", f.Scope, ". ")
	}
	if covers {
		m.intervals(b.Figures[0].Covers)
	}
	m.put("</p>\n")
}

// intervals says what they cover, or why there are none; its term of art leads to the glossary.
func (m *markup) intervals(covers string) {
	const term = "role keys"
	if rest, none := strings.CutPrefix(covers, "no interval: "); none {
		m.say("No interval: ", rest, ".")
	} else if before, after, found := strings.Cut(covers, term); found {
		m.say("Intervals: ", before, m.href("glossary/#role-key")+">"+term+"</a>")
		m.put(esc(after), ".")
	} else if covers != "" {
		m.say("Intervals: ", covers, ".")
	}
}

func bar(m *markup, b *Block) {
	m.say(`<svg class="bar" width="100%" height="28" role="img" aria-label="`, b.Bar.Summary, `">`)
	width := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	for _, p := range b.Bar.Parts {
		m.put("\n<rect x=\"", width(p.X), `%" y="0" width="`, width(p.W), `%" height="28" class="`, p.Tone, `"><title>`, esc(p.Name), ": ", esc(p.Value), "</title></rect>")
	}
	m.put("\n</svg>\n<ul class=\"key\">")
	for _, p := range b.Bar.Parts {
		m.put(`<li><svg width="12" height="12" aria-hidden="true"><rect width="12" height="12" class="`, p.Tone, `"/></svg> `, esc(p.Name), " <b>", esc(p.Value), "</b></li>\n")
	}
	m.put("</ul>\n")
	if len(b.Facts) > 0 {
		links(m, b)
	}
}

func codes(m *markup, b *Block) {
	for _, c := range b.Code {
		m.say(`<div class="code"><pre tabindex="0"><code>`, c, "</code></pre></div>\n")
	}
	if len(b.Facts) > 0 {
		links(m, b)
	}
}

func explorer(m *markup, b *Block) {
	m.put(`<div class="explorer" data-points="`, m.root, `data/explorer.json" data-root="`, m.root, `">
<noscript><p>Filtering needs a script. Without one, every point stands on its `, m.href("lanes/"), `>lane's page</a> and in `, m.href("data/points.csv"), ">points.csv</a>.</p></noscript>\n</div>\n")
}

func chart(m *markup, b *Block) {
	c := b.Chart
	if c.Few != "" {
		m.say(`<p class="few">`, c.Few, "</p>\n")
		return
	}
	file := func(name string) string { return esc(m.root + name) }
	class := "plot"
	if c.Tall {
		class = "plot tall"
	}
	m.put(`<figure class="chart">`, "\n", `<div class="`, class, `" id="c-`, c.ID, `"`)
	if m.live {
		m.put(` data-chart="`, file(c.Option), `"`)
	}
	m.put(fmt.Sprintf(` data-marks="%d"`, c.Marks), ` data-tones="`, c.Tones, `" data-root="`, m.root, `"><picture><source media="screen and (prefers-color-scheme: dark)" srcset="`, file(c.Dark), `"><img src="`, file(c.Light), `" alt="`, esc(c.Alt),
		fmt.Sprintf("\" width=\"%d\" height=\"%d\" loading=\"lazy\"></picture></div>\n", plot.Width, c.Height), "<figcaption>", esc(c.Caption), " ")
	if !m.live {
		m.put(`<span class="static">Static picture: this build was made without the chart library.</span> `)
	}
	m.put(`<span class="take"><a href="`, file(c.CSV), `" download>CSV</a> <a href="`, file(c.JSON), `" download>JSON</a> <a href="`, file(c.Light), `" download>SVG</a>`)
	if c.List != "" {
		m.put(` `, m.href(c.List), `>These points as a table</a>`)
	} else if c.Table == nil {
		m.say(" ", fmt.Sprintf("Its %s are too many to read here: the CSV and the JSON hold them.", plural(c.Rows, "row")), "")
	}
	m.put("</span></figcaption>\n</figure>\n")
	if c.Table != nil {
		m.put(`<details class="data"><summary>As a table</summary>`, "\n")
		c.Table.render(m, false)
		m.put("</details>\n")
	}
}
