package page

import (
	"bytes"
	"encoding/csv"
	"html"
	"strings"
)

// Table is a table with its captions. It is written as CSV too when CSV names a file.
type Table struct {
	ID       string
	Caption  string
	Columns  []Column
	Rows     []Row
	Sortable bool
	CSV      string
}

// Column heads a column; Num aligns it right.
type Column struct {
	Label string
	Unit  string
	Num   bool
}

// Row is one row; ID makes it a permalink.
type Row struct {
	ID    string
	Cells []Cell
}

// Cell is a text; Value is what it sorts by, when that is not the text.
type Cell struct{ Text, Value, Href, Class string }

func text(s string) Cell       { return Cell{Text: s} }
func link(s, href string) Cell { return Cell{Text: s, Href: href} }
func code(s string) Cell       { return Cell{Text: s, Class: "mono"} }

// row makes a row of plain texts.
func row(cells ...string) Row {
	r := Row{Cells: make([]Cell, len(cells))}
	for i, c := range cells {
		r.Cells[i] = text(c)
	}
	return r
}

// csv writes the values behind the cells, not their rounding.
func (t *Table) csv() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	line := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		line[i] = c.Label
		if c.Unit != "" {
			line[i] += " (" + c.Unit + ")"
		}
	}
	if err := w.Write(line); err != nil {
		return nil, err
	}
	for _, r := range t.Rows {
		for i, c := range r.Cells {
			line[i] = c.Text
			if c.Value != "" {
				line[i] = c.Value
			}
		}
		if err := w.Write(line); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// table adds the CSV of t and returns its block.
func (s *site) table(id, title, note string, t *Table) (Block, error) {
	if t.CSV != "" {
		data, err := t.csv()
		if err != nil {
			return Block{}, err
		}
		if err := s.w.File(t.CSV, data); err != nil {
			return Block{}, err
		}
	}
	t.ID = id
	return Block{Kind: "table", ID: id, Title: title, Note: note, Table: t}, nil
}

// render is the table as HTML; root leads from its page to the root of the site.
//
// Note: tables were a template first. They are most of a point's page, and cells as template
// values doubled the CPU time of a build.
func (t *Table) render(root string, titled bool) string {
	var b strings.Builder
	esc := html.EscapeString
	b.WriteString(`<div class="scroll" tabindex="0" role="region" aria-label="` + esc(t.Caption) + `"><table id="t-` + esc(t.ID) + `"`)
	if t.Sortable {
		b.WriteString(` data-sortable`)
	}
	b.WriteString("><caption")
	if titled { // the heading above says it to those who see
		b.WriteString(` class="off"`)
	}
	b.WriteString(">" + esc(t.Caption) + "</caption>\n<thead><tr>")
	for _, c := range t.Columns {
		b.WriteString(`<th scope="col"`)
		if c.Num {
			b.WriteString(` class="num"`)
		}
		b.WriteString(">" + esc(c.Label))
		if c.Unit != "" {
			b.WriteString(" <small>" + esc(c.Unit) + "</small>")
		}
		b.WriteString("</th>")
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for _, r := range t.Rows {
		b.WriteString("<tr")
		if r.ID != "" {
			b.WriteString(` id="` + esc(r.ID) + `"`)
		}
		b.WriteString(">")
		for i, c := range r.Cells {
			c.render(&b, root, i == 0, t.Columns[i].Num)
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table></div>\n")
	if t.CSV != "" {
		b.WriteString(`<p class="take"><a href="` + root + esc(t.CSV) + `" download>CSV of this table</a></p>` + "\n")
	}
	return b.String()
}

func (c Cell) render(b *strings.Builder, root string, head, num bool) {
	tag, class := "td", c.Class
	if num {
		class = strings.TrimSpace("num " + class)
	}
	b.WriteString("<")
	if head {
		tag = "th"
		b.WriteString(`th scope="row"`)
	} else {
		b.WriteString("td")
	}
	if class != "" {
		b.WriteString(` class="` + html.EscapeString(class) + `"`)
	}
	if c.Value != "" {
		b.WriteString(` data-v="` + html.EscapeString(c.Value) + `"`)
	}
	b.WriteString(">")
	if c.Href != "" {
		b.WriteString(`<a href="` + html.EscapeString(root+c.Href) + `">` + html.EscapeString(c.Text) + "</a>")
	} else {
		b.WriteString(html.EscapeString(c.Text))
	}
	b.WriteString("</" + tag + ">")
}

// render fills in the HTML of every table of d.
func (d *Doc) render() {
	root := strings.Repeat("../", strings.Count(d.Path, "/"))
	if root == "" {
		root = "./"
	}
	at := 0
	var each func(blocks []Block)
	each = func(blocks []Block) {
		for i := range blocks {
			if b := &blocks[i]; b.Table != nil {
				b.HTML, b.Count, b.At = b.Table.render(root, b.Title != ""), len(b.Table.Rows), at
				at++
			}
			each(blocks[i].Blocks)
		}
	}
	each(d.Blocks)
}
