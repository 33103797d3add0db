package page

import (
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// SnapshotsDir holds the published scores of every release, by content.
const SnapshotsDir = "snapshots"

// Release is one release's published scores: read from its snapshot, never computed
// again.
type Release struct {
	Name, ID string
	Summary  *record.Summary
}

// releases is a page for each scored release, whose figures stay what they were.
func (s *site) releases() error {
	for i, r := range s.Releases {
		b := r.Summary.Build
		files := []Fact{}
		for _, f := range []string{"points.json", "summary.json", "coverage.json", "backlog.json", "build.json", "stack.json", "snapshot.json"} {
			files = append(files, Fact{Name: f, Href: SnapshotsDir + "/" + r.ID + "/" + f})
		}
		grades, err := s.accuracy("each-grade-"+slug(r.Name), "Each grade on its own", "", r.Summary.ByGrade, nil)
		if err != nil {
			return err
		}
		engines, err := s.accuracy("each-engine-"+slug(r.Name), "Each engine", "", r.Summary.ByEngine, nil)
		if err != nil {
			return err
		}
		err = s.page(Doc{Path: "releases/" + r.Name + "/", Title: "Release " + r.Name, Weight: len(s.Releases) - i,
			Description: fmt.Sprintf("The scores of release %s, as they were published.", r.Name),
			Lead:        "These figures were published with the release and do not change: the files below are named by their own hash.",
			Blocks: []Block{
				{Kind: "figures", ID: "headline", Title: "Mean absolute error of the mean latency", Figures: figuresOf(r.Summary.Headline, "")},
				s.gradeBar(r.Summary.Coverage), grades, engines,
				{Kind: "links", ID: "files", Title: "Files", Facts: files},
				{Kind: "facts", ID: "build", Title: "Build", Facts: []Fact{
					{Name: "Snapshot", Value: r.ID}, {Name: "Source revision", Value: b.Commit}, {Name: "Catalog", Value: b.Catalog},
					{Name: "Coefficients", Value: b.Registry}, {Name: "Measured runs", Value: b.Ledger}}},
			}})
		if err != nil {
			return err
		}
	}
	return nil
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
