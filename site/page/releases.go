package page

import (
	"fmt"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/plot"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// SnapshotsDir holds the published scores of every release, by content.
const SnapshotsDir = "snapshots"

// Release is one release's published scores: read from its snapshot, never computed
// again.
type Release struct {
	Name, ID string
	Summary  *record.Summary
	Points   []record.Point
	at       map[string]int // of a unit among Points
}

// releases is the history, a page for each scored release, whose figures stay what they were, and
// a page for each pair that was compared.
func (s *site) releases() error {
	if err := s.releaseList(); err != nil {
		return err
	}
	for i := range s.Releases {
		if err := s.release(i); err != nil {
			return err
		}
	}
	for i := range s.Changes {
		if err := s.change(&s.Changes[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *site) releaseList() error {
	d := Doc{Path: "releases/", Title: "Releases", Section: true, Description: "Every scored release of the simulator, and what moved between them.",
		Lead: "Each release of the simulator is scored once, and its scores do not change afterwards."}
	if len(s.Releases) == 0 {
		d.Blocks = []Block{{Kind: "text", Paragraphs: []string{"No release has been scored yet. These pages show a build between releases; its scores are not kept."}}}
		return s.page(d)
	}
	t := &Table{Caption: "Releases", CSV: "data/tables/releases.csv", Columns: []Column{{Label: "Release"}, {Label: "Units", Num: true}, {Label: "Graded", Num: true}}}
	for _, m := range headlineMetrics {
		t.Columns = append(t.Columns, Column{Label: metricName(m) + " error", Num: true}, interval95)
	}
	t.Columns = append(t.Columns, Column{Label: "Source revision"})
	for _, r := range slices.Backward(s.Releases) {
		c := r.Summary.Coverage
		row := Row{ID: r.Name, Cells: []Cell{link(r.Name, "releases/"+r.Name+"/"), text(fmt.Sprint(c.Units)), text(fmt.Sprint(c.Graded))}}
		for _, m := range headlineMetrics {
			value, interval := Cell{}, Cell{}
			for _, a := range r.Summary.Headline {
				if a.Metric == m {
					value, interval = figureCells(a.MAPE)
				}
			}
			row.Cells = append(row.Cells, value, interval)
		}
		t.Rows = append(t.Rows, Row{ID: row.ID, Cells: append(row.Cells, code(short(r.Summary.Build.Commit)))})
	}
	list, err := s.table("list", "Every release", "", t)
	if err != nil {
		return err
	}
	charts, err := s.pair("", s.history)
	if err != nil {
		return err
	}
	d.Blocks = []Block{list, charts, s.compared()}
	return s.page(d)
}

// Compared is how many builds before one it is compared with: each pair has pages of its own.
const Compared = 12

// compared is the table of every pair of builds whose scores were compared.
func (s *site) compared() Block {
	var names []string
	for _, c := range s.Changes {
		names = append(names, c.From, c.To)
	}
	var order []string // of release; what is unreleased comes last
	for _, r := range s.Releases {
		order = append(order, r.Name)
	}
	order = append(order, unreleased)
	order = slices.DeleteFunc(order, func(n string) bool { return !slices.Contains(names, n) })
	if len(order) < 2 {
		return Block{Kind: "text", ID: "compare", Title: "Compare two releases", Paragraphs: []string{"A comparison takes two releases."}}
	}
	t := &Table{ID: "compare", Caption: "Pairs that were compared", Columns: []Column{{Label: "Later"}}}
	for _, from := range order[:len(order)-1] {
		t.Columns = append(t.Columns, Column{Label: "since " + from})
	}
	for _, to := range order[1:] {
		r := row(buildLabel(to))
		for _, from := range order[:len(order)-1] {
			cell := Cell{}
			if i := slices.IndexFunc(s.Changes, func(c record.Change) bool { return c.From == from && c.To == to }); i >= 0 {
				cell = link(plural(len(s.Changes[i].Points), "point")+" moved", changePath(&s.Changes[i]))
			}
			r.Cells = append(r.Cells, cell)
		}
		t.Rows = append(t.Rows, r)
	}
	return Block{Kind: "table", ID: "compare", Title: "Compare two releases", Note: fmt.Sprintf("Each cell leads to every lane and point that moved between the two. A build is compared with the %d before it, no further back.", Compared), Table: t}
}

func (s *site) release(i int) error {
	r := &s.Releases[i]
	b := r.Summary.Build
	files := []Fact{}
	for _, f := range []string{"points.json", "summary.json", "coverage.json", "backlog.json", "build.json", "stack.json", "snapshot.json"} {
		files = append(files, Fact{Name: f, Href: SnapshotsDir + "/" + r.ID + "/" + f})
	}
	grades, err := s.accuracy("each-grade-"+slug(r.Name), "Grade", "Each grade on its own", "", r.Summary.ByGrade, nil)
	if err != nil {
		return err
	}
	engines, err := s.accuracy("each-engine-"+slug(r.Name), "Engine", "Each engine", "", r.Summary.ByEngine, nil)
	if err != nil {
		return err
	}
	lanes, err := s.accuracy("each-lane-"+slug(r.Name), "Lane", "Each lane", "", r.Summary.ByLane, nil)
	if err != nil {
		return err
	}
	charts, err := s.pair("", func(m string) plot.Chart {
		c := s.scatter("release-"+slug(r.Name)+"-"+m, "Measured and simulated "+metricName(m), m, r.Points, byEngine)
		for k := range c.Series { // the pages of points are of the present scores
			for j := range c.Series[k].Marks {
				c.Series[k].Marks[j].Link = ""
			}
		}
		return c
	})
	if err != nil {
		return err
	}
	d := Doc{Path: "releases/" + r.Name + "/", Title: "Release " + r.Name, Release: true, Weight: len(s.Releases) - i, Section: true,
		Description: fmt.Sprintf("The scores of release %s, as they were published.", r.Name),
		Lead:        "These figures were published with the release and do not change: the files below are named by their own hash."}
	d.Blocks = []Block{{Kind: "figures", ID: "headline", Title: "Mean absolute error of the mean latency", Figures: figuresOf(r.Summary.Headline, "")}, s.gradeBar(r.Summary.Coverage)}
	var since []Fact
	for k := range s.Changes {
		if c := &s.Changes[k]; c.To == r.Name {
			since = append(since, Fact{Name: "Since " + c.From, Value: plural(len(c.Points), "point") + " moved", Href: changePath(c)})
		}
	}
	if since != nil {
		d.Blocks = append(d.Blocks, Block{Kind: "links", ID: "since", Title: "What moved", Facts: since})
	}
	d.Blocks = append(d.Blocks, charts, grades, engines, lanes,
		Block{Kind: "links", ID: "files", Title: "Files", Facts: files},
		Block{Kind: "facts", ID: "build", Title: "Build", Facts: []Fact{
			{Name: "Snapshot", Value: r.ID}, {Name: "Source revision", Value: b.Commit}, {Name: "Catalog", Value: b.Catalog},
			{Name: "Coefficients", Value: b.Registry}, {Name: "Measured runs", Value: b.Ledger}}})
	return s.page(d)
}

// snapshots writes the published scores as they are.
func (s *site) snapshots() error {
	for _, name := range sortedKeys(s.Snapshots) {
		if err := s.w.File(SnapshotsDir+"/"+name, s.Snapshots[name]); err != nil {
			return err
		}
	}
	return nil
}
