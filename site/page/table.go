package page

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
)

// Table is a table with its captions. It is written as CSV too when CSV names a file.
type Table struct {
	ID       string   `json:"id"`
	Caption  string   `json:"caption"`
	Columns  []Column `json:"columns"`
	Rows     []Row    `json:"rows"`
	Sortable bool     `json:"sortable,omitempty"`
	CSV      string   `json:"csv,omitempty"`
}

// Column heads a column; Num aligns it right.
type Column struct {
	Label string `json:"label"`
	Unit  string `json:"unit,omitempty"`
	Num   bool   `json:"num,omitempty"`
}

// Row is one row; ID makes it a permalink.
type Row struct {
	ID    string `json:"id,omitempty"`
	Cells []Cell `json:"cells"`
}

// Cell is a text; Value is what it sorts by, when that is not the text.
type Cell struct{ Text, Value, Href, Class string }

// MarshalJSON keeps cells small: a plain text is a string, any other a list of four.
func (c Cell) MarshalJSON() ([]byte, error) {
	if c == (Cell{Text: c.Text}) {
		return json.Marshal(c.Text)
	}
	return json.Marshal([]string{c.Text, c.Value, c.Href, c.Class})
}

func text(s string) Cell       { return Cell{Text: s} }
func link(s, href string) Cell { return Cell{Text: s, Href: href} }
func code(s string) Cell       { return Cell{Text: s, Class: "code"} }

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
