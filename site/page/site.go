package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// site is the state of one Build.
type site struct {
	Input
	w Writer
}

// headlineMetrics head every list of points; they are what the measured runs record.
var headlineMetrics = []string{"ttft_mean", "tpot_mean"}

func newSite(in Input, w Writer) *site {
	in.Points = slices.Clone(in.Points)
	slices.SortFunc(in.Points, func(a, b record.Point) int {
		return cmp.Or(cmp.Compare(a.Lane, b.Lane), cmp.Compare(unscored(a), unscored(b)), cmp.Compare(a.EngineVersion, b.EngineVersion), cmp.Compare(a.GPUs, b.GPUs),
			cmp.Compare(a.ISL, b.ISL), cmp.Compare(a.OSL, b.OSL), cmp.Compare(a.Concurrency, b.Concurrency), cmp.Compare(a.UnitID, b.UnitID))
	})
	in.Releases = slices.Clone(in.Releases)
	for i := range in.Releases {
		r := &in.Releases[i]
		r.at = make(map[string]int, len(r.Points))
		for k := range r.Points {
			r.at[r.Points[k].UnitID] = k
		}
	}
	return &site{Input: in, w: w}
}

// unscored sorts points without a comparison behind the others of their lane.
func unscored(p record.Point) int {
	if p.Grade == record.G5 {
		return 1
	}
	return 0
}

func (s *site) page(d Doc) error {
	d.render(s.Live, s.Simulator)
	return s.w.Page(d)
}

func pointPath(p *record.Point) string { return "points/" + p.UnitID + "/" }
func lanePath(lane string) string      { return "lanes/" + slug(lane) + "/" }

// deployment names what was measured, without its load.
func deployment(p *record.Point) string {
	return fmt.Sprintf("%s on %s", modelName(p.Model), chips(p))
}

// modelName leaves out the organisation a model is published under.
func modelName(model string) string { return model[strings.LastIndex(model, "/")+1:] }

// buildName leaves out the repository an image is published under.
func buildName(build string) string {
	name, tag, tagged := strings.Cut(build[strings.LastIndex(build, "/")+1:], ":")
	if tagged {
		return tag
	}
	return name
}

// laneName is how a lane is shown: its own name, without the model's organisation.
func laneName(p *record.Point) string {
	return strings.Join([]string{p.Engine, modelName(p.Model), p.Hardware, p.Precision}, " ")
}

func chips(p *record.Point) string {
	if p.GPUs == 0 {
		return p.Hardware
	}
	return fmt.Sprintf("%d×%s", p.GPUs, p.Hardware)
}

func load(p *record.Point) string { return fmt.Sprintf("%s→%s", count(p.ISL), count(p.OSL)) }

func gradeCell(g record.Grade) Cell {
	return Cell{Text: string(g), Class: "grade " + gradeTone(g)}
}

func gradeTone(g record.Grade) string {
	return map[record.Grade]string{
		record.G1: "g1", record.G2: "g2", record.G3: "g3", record.G4: "g4", record.G5: "g5"}[g]
}

// gradeNames are the names of §11.3 of the Target Design; of G4 it says what the grade also
// holds, a build whose code nobody compared.
var gradeNames = map[record.Grade]string{
	record.G1: "exact", record.G2: "estimated", record.G3: "other version, same code",
	record.G4: "other version, changed or uncompared code", record.G5: "not scored",
}

// reasonTexts say each reason of §11.4 in a sentence.
var reasonTexts = map[record.Reason]string{
	record.CodeNotVisible:      "the run loaded code that the pinned upstream release does not ship",
	record.RouterUnsupported:   "the run was measured behind a router BLIS does not host",
	record.ValueNotRecorded:    "the result depends on a value the run did not record, and no estimation rule covers it",
	record.FieldNotModelled:    "the run sets a field the engine does not model, and no estimation rule covers the value",
	record.FieldUnclassified:   "the engine has not classified a field the run sets",
	record.EngineUnsupported:   "BLIS models no such engine",
	record.TopologyUnsupported: "the run used several engines, and the harness writes one colocated pool",
	record.NotInCatalog:        "the model or the chip has no catalog entry",
	record.FieldNotInRelease:   "the run sets a field the modelled release does not have",
	record.ValueConflict:       "two sources of the same stage of one field disagree",
	record.BuildUnparseable:    "the recorded engine build cannot be read",
}
