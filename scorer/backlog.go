package scorer

import (
	"cmp"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// BacklogSchema names the layout of a Backlog.
const BacklogSchema = "blis.backlog/1"

// playbooks maps a kind of entry to the trigger that clears it, of those in §12 of the Target Design.
var playbooks = map[string]string{
	"field": "a port of the setting, or of another engine release", "coefficient": "a measurement or a better pricing form",
	"release": "a port of that engine release", "client": "a source that records more",
}

// cleared maps a reason to what ends it (§11.4).
var cleared = map[record.Reason]string{
	record.CodeNotVisible: "an engine release that ships the code", record.RouterUnsupported: "a router table entry with its evidence",
	record.ValueNotRecorded: "a record that states the value, or an estimation rule for it", record.FieldNotModelled: "a port of the setting, or an estimation rule for its value",
	record.FieldUnclassified: "a field list that classifies the setting", record.EngineUnsupported: "a new engine",
	record.TopologyUnsupported: "a new topology", record.NotInCatalog: "a new model or chip",
	record.FieldNotInRelease: "a port of an engine release that has the setting", record.ValueConflict: "records that agree: the source's to correct",
	record.BuildUnparseable: "a record that names the engine build: the source's to correct",
}

// Rank lists what blocks or demotes points, most points first, then by name. One
// point counts once an entry.
func Rank(points []record.Point) record.Backlog {
	found := map[string]*record.BacklogEntry{}
	for i := range points {
		seen := map[string]bool{}
		for _, e := range blockers(&points[i]) {
			k := strings.Join([]string{e.Engine, e.Kind, e.Name, e.Effect}, "\x00")
			if seen[k] {
				continue
			}
			seen[k] = true
			if found[k] == nil {
				e.Playbook = cmp.Or(playbooks[e.Kind], cleared[points[i].Reason])
				found[k] = &e
			}
			found[k].Points++
		}
	}
	b := record.Backlog{Schema: BacklogSchema, Entries: []record.BacklogEntry{}}
	for _, e := range found { //determinism:any-order sorted below
		b.Entries = append(b.Entries, *e)
	}
	slices.SortFunc(b.Entries, func(x, y record.BacklogEntry) int {
		return cmp.Or(cmp.Compare(y.Points, x.Points), cmp.Compare(x.Engine, y.Engine), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Name, y.Name), cmp.Compare(x.Effect, y.Effect))
	})
	return b
}

// blockers lists one point's entries.
func blockers(p *record.Point) []record.BacklogEntry {
	entry := func(kind, name, effect, detail string) record.BacklogEntry {
		return record.BacklogEntry{Engine: p.Engine, Kind: kind, Name: name, Effect: effect, Detail: detail}
	}
	if p.Grade == record.G5 {
		return []record.BacklogEntry{entry("reason", string(p.Reason)+": "+p.Detail, "blocks", p.Detail)}
	}
	var out []record.BacklogEntry
	for _, s := range p.Trial.Settings {
		switch modelled := s.Status == fields.Modelled || s.Status == fields.Inert; {
		case s.Stage == "passed" && !modelled:
			out = append(out, entry("field", s.Name, "demotes", string(s.Status)))
		case s.Status == fields.Modelled && !s.Covered:
			out = append(out, entry("field", s.Name, "demotes", "a value its evidence does not cover"))
		case s.Logged != "" && s.Resolved != "" && s.Logged != s.Resolved:
			out = append(out, entry("field", s.Name, "demotes", "a fidelity defect: the run's engine resolved another value"))
		}
	}
	for _, e := range p.Trial.Estimates {
		if e.Recorded == "" {
			out = append(out, entry("field", e.Field, "demotes", "not recorded: "+e.Reason))
		}
	}
	for _, s := range p.Trial.Steps {
		for _, part := range s.Parts {
			if part.Method != "measured" {
				what := cmp.Or(strings.TrimSpace(part.Primitive+" "+part.Kernel), part.Name) // work of the host is no primitive
				out = append(out, entry("coefficient", what+" on "+p.Hardware, "demotes", "price is "+part.Method))
			}
		}
	}
	for _, c := range p.Trial.Client {
		out = append(out, entry("client", c, "demotes", "request stream"))
	}
	if p.EngineVersion != p.Trial.Simulated {
		out = append(out, entry("release", p.EngineVersion, "demotes", "simulated as "+p.Trial.Simulated))
	}
	return out
}
