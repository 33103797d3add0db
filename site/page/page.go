// Package page turns scored records into the documents of the site: pages made of blocks, and the
// data files beside them.
//
// In: a summary, points and a backlog (scorer/record). Out, through a [Writer]: one [Doc] a page
// and every downloadable file. It is a pure function of the records and computes no figure: an
// accuracy appears only as a record.Figure, with the points, scope and interval it carries. The
// only arithmetic is a change of unit, and the share a published count is of its published total.
//
// Rules kept: COV-4, COV-5, COV-7, COV-11.
package page

import (
	"cmp"

	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// Input is what one release's site is made of.
type Input struct {
	Summary *record.Summary
	Points  []record.Point // in any order; pages order them
	Backlog *record.Backlog
	Home    string // absolute URL of the published root
	Live    bool   // a script draws the charts; else they are pictures alone
	// Size of the simulator's WebAssembly module, for readers; empty when this build has none.
	Simulator string
	// Scores published before and with this release, which no later run changes.
	Changes   []record.Change   // between pairs of them, and from the last to these scores
	Fits      *record.Residuals // nil: not on record
	Releases  []Release         // in the order of their tags
	Snapshots map[string][]byte // their files, below SnapshotsDir
	Reference []string          // data files of the reference, below reference/: the schemas and the rest
}

// Writer takes what Build makes, in a fixed order. A name is slash-separated and relative to the
// root of the site.
type Writer interface {
	Page(d Doc) error
	File(name string, data []byte) error
}

// Doc is one page: a path such as "lanes/x/" ("" is the home page), and blocks shown in order.
type Doc struct {
	Path        string
	Title       string
	LinkTitle   string // for breadcrumbs; empty is Title
	Description string // one sentence
	View        string // names the script the page needs beside those of every page
	Lead        string
	Section     bool // has pages below it
	Release     bool // feeds announce it
	Weight      int
	Dataset     string // JSON-LD, on the home page
	Blocks      []Block
	Body        string // HTML of Blocks, made when the page is written
	Charts      bool   // there is a picture among Blocks
}

// Block is one part of a page. Kind selects the content field that is set.
type Block struct {
	Kind       string
	ID         string
	Title      string
	Note       string
	Fold       bool     // shown on demand: long, and rarely asked for
	Paragraphs []string // text
	Items      []string // text
	Facts      []Fact   // facts, links
	Figures    []Figure
	Table      *Table
	Chart      *Chart
	Bar        *Bar
	Picture    string // markup made here: its texts are escaped
	Code       []string
	Blocks     []Block // pair: stand side by side where there is room
}

// Fact is a named value, perhaps with a link relative to the root.
type Fact struct{ Name, Value, Href string }

// Figure is a record.Figure in words.
type Figure struct {
	Name     string
	Value    string
	Few      bool
	Interval string
	Count    string // of points
	Scope    string
	Covers   string // what the interval covers, or why there is none
}

// Bar is one stacked bar whose parts make up a whole.
type Bar struct {
	Summary string // read out in place of the picture
	Parts   []Part
}

// Part of a Bar: X and W are percent of the width.
type Part struct {
	Name, Value, Tone string
	X, W              float64
}

// newBar lays out parts by size. Sizes are non-negative and not all zero.
func newBar(summary string, parts []Part, sizes []float64) *Bar {
	total, x := 0.0, 0.0
	for _, s := range sizes {
		total += s
	}
	b := &Bar{Summary: summary}
	for i, p := range parts {
		if sizes[i] > 0 {
			p.X, p.W = round3(100*x/total), round3(100*sizes[i]/total)
			b.Parts = append(b.Parts, p)
		}
		x += sizes[i]
	}
	return b
}

// Build writes the pages and files of one release, in one order. One is made while those before it
// are written.
func Build(in Input, w Writer) error {
	q := newQueue(w)
	s := newSite(in, q)
	for _, step := range []func() error{
		s.overview, s.groups, s.lanes, s.points, s.workbench, s.coverage, s.backlog, s.residuals, s.releases, s.data,
	} {
		if err := step(); err != nil {
			return cmp.Or(q.close(), err)
		}
	}
	return q.close()
}

// queue hands what it is given to a Writer, in order, beside its caller.
type queue struct {
	w      Writer
	work   chan func() error
	err    error         // of the first that failed; to be read once broken is closed
	broken chan struct{} // at the end, or at the first failure
}

func newQueue(w Writer) *queue {
	const ahead = 64 // bounds what waits in memory
	q := &queue{w: w, work: make(chan func() error, ahead), broken: make(chan struct{})}
	go func() {
		defer close(q.broken)
		for write := range q.work {
			if q.err = write(); q.err != nil {
				return
			}
		}
	}()
	return q
}

func (q *queue) add(write func() error) error {
	select {
	case q.work <- write:
		return nil
	case <-q.broken:
		return q.err
	}
}

func (q *queue) Page(d Doc) error { return q.add(func() error { return q.w.Page(d) }) }

func (q *queue) File(name string, data []byte) error {
	return q.add(func() error { return q.w.File(name, data) })
}

// close waits until all is written.
func (q *queue) close() error {
	close(q.work)
	<-q.broken
	return q.err
}
