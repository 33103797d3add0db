package page

import (
	"bytes"
	"cmp"
	"encoding/csv"
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

// Column heads a column; Num aligns it right. A column of intervals is two in the CSV: its ends.
type Column struct {
	Label string
	Unit  string
	Num   bool
	Ends  bool
}

var interval95 = Column{Label: "95% interval", Num: true, Ends: true}

// Row is one row; ID makes it a permalink.
type Row struct {
	ID    string
	Cells []Cell
}

// Cell is a text; Value is what it sorts by, when that is not the text. An interval has its low
// end as Value and its high end as High.
type Cell struct{ Text, Value, High, Href, Class string }

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
	var line []string
	for _, c := range t.Columns {
		switch {
		case c.Ends:
			of := strings.TrimSuffix(c.Label, " interval")
			line = append(line, of+" low", of+" high")
		case c.Unit != "":
			line = append(line, c.Label+" ("+c.Unit+")")
		default:
			line = append(line, c.Label)
		}
	}
	if err := w.Write(line); err != nil {
		return nil, err
	}
	for _, r := range t.Rows {
		line = line[:0]
		for i, c := range r.Cells {
			if t.Columns[i].Ends {
				line = append(line, c.Value, c.High)
			} else {
				line = append(line, cmp.Or(c.Value, c.Text))
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

// render writes the table; titled when a heading above says what the caption would.
func (t *Table) render(m *markup, titled bool) {
	m.put(`<div class="scroll" tabindex="0" role="region" aria-label="`, esc(t.Caption), `"><table id="t-`, esc(t.ID), `"`)
	if t.Sortable {
		m.put(` data-sortable`)
	}
	m.put("><caption")
	if titled {
		m.put(` class="off"`)
	}
	m.say(">", t.Caption, "</caption>\n<thead><tr>")
	for _, c := range t.Columns {
		m.put(`<th scope="col"`)
		if c.Num {
			m.put(` class="num"`)
		}
		m.say(">", c.Label, "")
		if c.Unit != "" {
			m.say(" <small>", c.Unit, "</small>")
		}
		m.put("</th>")
	}
	m.put("</tr></thead>\n<tbody>\n")
	for _, r := range t.Rows {
		m.put("<tr")
		if r.ID != "" {
			m.put(` id="`, esc(r.ID), `"`)
		}
		m.put(">")
		for i, c := range r.Cells {
			c.render(m, i == 0, t.Columns[i].Num)
		}
		m.put("</tr>\n")
	}
	m.put("</tbody></table></div>\n")
	if t.CSV != "" {
		m.put(`<p class="take">`, m.href(t.CSV), ` download>CSV of this table</a></p>`, "\n")
	}
}

func (c Cell) render(m *markup, head, num bool) {
	open, end := "<td", "</td>"
	if head {
		open, end = `<th scope="row"`, "</th>"
	}
	class := c.Class
	if num {
		class = strings.TrimSpace("num " + class)
	}
	m.put(open)
	if class != "" {
		m.put(` class="`, esc(class), `"`)
	}
	if c.Value != "" {
		m.put(` data-v="`, esc(c.Value), `"`)
	}
	m.put(">")
	if c.Href != "" {
		m.say(m.href(c.Href)+">", c.Text, "</a>")
	} else {
		m.put(esc(c.Text))
	}
	m.put(end)
}
