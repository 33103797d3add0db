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
	if p.Grade == record.G5 {
		return blocking(p)
	}
	var out []record.BacklogEntry
	demotes := func(kind, name, detail string) {
		out = append(out, record.BacklogEntry{Engine: p.Engine, Kind: kind, Name: name, Effect: "demotes", Detail: detail, Playbook: playbooks[kind].clears, Recipe: playbooks[kind].recipe})
	}
	for _, s := range p.Trial.Settings {
		switch modelled := s.Status == fields.Modelled || s.Status == fields.Inert; {
		case s.Stage == "passed" && !modelled:
			demotes("field", s.Name, string(s.Status))
		case s.Status == fields.Modelled && !s.Covered:
			demotes("field", s.Name, "a value its evidence does not cover")
		case s.Logged != "" && s.Resolved != "" && s.Logged != s.Resolved:
			demotes("fidelity", s.Name, "the run's engine resolved another value")
		}
	}
	for _, e := range p.Trial.Estimates {
		if e.Recorded == "" {
			demotes("value", e.Field, "not recorded: "+e.Reason)
		}
	}
	for _, s := range p.Trial.Steps {
		for _, part := range s.Parts {
			if part.Method != "measured" {
				what := cmp.Or(strings.TrimSpace(part.Primitive+" "+part.Kernel), part.Name) // work of the host is no primitive
				demotes("coefficient", what+" on "+p.Hardware, "price is "+part.Method)
			}
		}
	}
	for _, l := range p.Trial.Libraries {
		if l.Priced == nil || !*l.Priced {
			demotes("library", l.Name+" "+l.Version, "its kernels are not known to be the ones priced")
		}
	}
	for _, c := range p.Trial.Client {
		demotes("client", c, "request stream")
	}
	if p.EngineVersion != p.Trial.Simulated {
		demotes("release", p.EngineVersion, "simulated as "+p.Trial.Simulated)
	}
	return out
}

// blocking lists each setting that blocks a point, or the one condition that does.
func blocking(p *record.Point) []record.BacklogEntry {
	blocks := func(r record.Reason, what, detail string) record.BacklogEntry {
		return record.BacklogEntry{Engine: p.Engine, Kind: "reason", Name: string(r) + ": " + what, Effect: "blocks", Detail: detail, Playbook: cleared[r].clears, Recipe: cleared[r].recipe}
	}
	if p.Trial.Refusal == nil || len(p.Trial.Refusal.Settings) == 0 {
		return []record.BacklogEntry{blocks(p.Reason, p.Detail, p.Detail)}
	}
	var out []record.BacklogEntry
	for _, s := range p.Trial.Refusal.Settings {
		out = append(out, blocks(s.Reason, s.Setting, s.Why))
	}
	return out
}
