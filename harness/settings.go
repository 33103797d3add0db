package harness

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// state carries every setting the run passed into s, or what the engine's field
// list puts in its place, and writes each down on t. All settings are looked at, so
// that a trial names each that blocks it.
func state(c *ledger.Configuration, list *fields.List, s *spec.Scenario, t *record.Trial) []*record.Refused {
	d := decider{list: list, args: tree{}, env: map[string]string{}, trial: t}
	for _, p := range d.passedArgs(c) {
		d.decide(passed{name: p.path, value: p.value, recorded: p.path})
	}
	for _, name := range sortedKeys(c.Env) {
		d.decide(passed{name: name, value: c.Env[name], recorded: name, env: true})
	}
	if c.Logged != nil {
		d.resolved(c.Logged)
	}
	d.earlier()
	s.Engine.Args, s.Engine.Env = d.args, d.env
	return d.refused
}

// passedArgs are the arguments of the launch and those the engine logged as passed.
// Both record one stage, so a value on which they differ is a conflict (§11.2).
func (d *decider) passedArgs(c *ledger.Configuration) []leaf {
	out := leaves(c.ServerArgs)
	if c.Logged == nil {
		return out
	}
	launched := map[string]any{}
	for _, p := range out {
		launched[p.path] = p.value
	}
	for _, p := range leaves(c.Logged.Passed) {
		v, twice := launched[p.path]
		if !twice {
			out = append(out, p)
		} else if text(v) != text(p.value) {
			d.refuse(record.ValueConflict, p.path, "", fmt.Sprintf("launched as %s and logged as passed as %s", text(v), text(p.value)))
		}
	}
	return out
}

// resolved notes what the engine logged as resolved. A value that only the log has is
// stated where the engine models the field or proves it inert; elsewhere it was the
// engine's own choice, which no estimation rule replaces (§11.2).
func (d *decider) resolved(log *ledger.Logged) {
	at := map[string]int{}
	for i, s := range d.trial.Settings {
		at[s.Name] = i
	}
	for _, p := range leaves(log.Resolved) {
		if i, both := at[p.path]; both {
			d.trial.Settings[i].Logged = text(p.value)
			continue
		}
		set := record.Setting{Name: p.path, Recorded: text(p.value), Stage: "resolved", Logged: text(p.value), Covered: true}
		if f := d.lookup(passed{name: p.path}); f != nil {
			set.Status = f.Status
			if f.Status == fields.Modelled || f.Status == fields.Inert {
				set.Covered = covers(f, p.value)
				set.Stated = p.path + "=" + text(p.value)
				d.carry(passed{name: p.path, value: p.value})
			}
		}
		d.trial.Settings = append(d.trial.Settings, set)
	}
	for _, name := range sortedKeys(log.Libraries) {
		d.trial.Libraries = append(d.trial.Libraries, record.Library{Name: name, Version: log.Libraries[name]})
	}
}

func covers(f *fields.Field, v any) bool {
	return len(f.Values) == 0 || slices.Contains(f.Values, text(v))
}

// first is the refusal whose reason comes first, joined with the others of the same
// reason, and with every setting that blocks the unit; nil in refused is no refusal.
func first(refused []*record.Refused) *record.Refused {
	refused = slices.DeleteFunc(refused, func(r *record.Refused) bool { return r == nil })
	if len(refused) == 0 {
		return nil
	}
	order := record.Reasons()
	lead := &record.Refused{Reason: slices.MinFunc(refused, func(a, b *record.Refused) int {
		return cmp.Compare(slices.Index(order, a.Reason), slices.Index(order, b.Reason))
	}).Reason}
	var details []string
	for _, r := range refused {
		if r.Reason == lead.Reason {
			details = append(details, r.Detail)
		}
		lead.Settings = append(lead.Settings, r.Settings...)
	}
	lead.Detail = strings.Join(details, "; ")
	return lead
}

// passed is one setting on its way into the scenario. A renamed setting keeps the
// name it was recorded under.
type passed struct {
	name, recorded string
	value          any
	env            bool
}

type decider struct {
	list    *fields.List
	args    tree
	env     map[string]string
	trial   *record.Trial
	refused []*record.Refused
}

func (d *decider) refuse(reason record.Reason, setting, value, why string) {
	b := record.Blocked{Reason: reason, Setting: setting, Value: value, Why: why}
	d.refused = append(d.refused, &record.Refused{Reason: reason, Detail: b.String(), Settings: []record.Blocked{b}})
}

// decide looks p up and carries it, replaces it or refuses it.
func (d *decider) decide(p passed) {
	f := d.lookup(p)
	if f == nil {
		d.refuse(record.FieldUnclassified, p.name, text(p.value), "the engine's field list does not have it")
		return
	}
	set := record.Setting{Name: p.recorded, Recorded: text(p.value), Stage: "passed", Status: f.Status, Covered: covers(f, p.value)}
	if d.list.Hidden(f, p.value) { // takes precedence over what the engine models (§11.4)
		d.refuse(record.CodeNotVisible, p.name, text(p.value), "names code that the modelled release does not ship")
		return
	}
	switch f.Status {
	case fields.Modelled, fields.Inert:
		set.Stated = p.name + "=" + text(p.value)
		d.carry(p)
	default:
		set.Stated = d.standIn(p, f)
	}
	d.trial.Settings = append(d.trial.Settings, set)
}

// lookup finds the field of p. A row covers what lies below it in a JSON-valued
// argument, unless a longer path has a row of its own.
func (d *decider) lookup(p passed) *fields.Field {
	if d.list == nil {
		return nil
	}
	for name := p.name; ; {
		if f, ok := d.list.Lookup(name); ok && (f.Kind == "environment") == p.env {
			return f
		}
		dot := strings.LastIndexByte(name, '.')
		if dot < 0 {
			return nil
		}
		name = name[:dot]
	}
}

// standIn applies the estimation rule of a field that is not modelled or no
// longer exists, and returns what the scenario states instead ("" for nothing).
func (d *decider) standIn(p passed, f *fields.Field) string {
	r := f.Rule
	if r == nil {
		reason := record.FieldNotModelled
		if f.Status == fields.Removed {
			reason = record.FieldNotInRelease
		}
		d.refuse(reason, p.name, text(p.value), f.Evidence)
		return ""
	}
	if len(r.ValidWhen) > 0 && !slices.Contains(r.ValidWhen, text(p.value)) {
		d.refuse(record.FieldNotModelled, p.name, text(p.value), fmt.Sprintf("the rule stands in for %s alone", strings.Join(r.ValidWhen, ", ")))
		return ""
	}
	e := record.Estimate{Field: p.recorded, Recorded: text(p.value), Rule: r.Do, Reason: r.Reason, Exact: r.Preserves != ""}
	switch r.Do {
	case "rename":
		e.StoodIn = r.Field + "=" + text(p.value)
		d.successor(f, r.Field, p.value)
	case "set":
		e.StoodIn = r.Field + "=" + r.Value
		d.successor(f, r.Field, parse(r.Value))
	}
	d.trial.Estimates = append(d.trial.Estimates, e)
	return e.StoodIn
}

// successor carries a stand-in, which must itself be a field the engine takes; an
// argument may stand in for a variable.
func (d *decider) successor(from *fields.Field, name string, value any) {
	for _, env := range []bool{false, true} {
		p := passed{name: name, value: value, env: env}
		if f := d.lookup(p); f != nil && (f.Status == fields.Modelled || f.Status == fields.Inert) {
			d.carry(p)
			return
		}
	}
	d.refuse(record.FieldNotModelled, from.Name, "", fmt.Sprintf("its stand-in %s is not modelled", name))
}

// carry states p in the scenario. Two recorded settings may say the same thing
// twice; if they differ, the run's record contradicts itself.
func (d *decider) carry(p passed) {
	old, twice := any(nil), false
	if p.env {
		old, twice = d.env[p.name], d.env[p.name] != ""
		d.env[p.name] = text(p.value)
	} else {
		old, twice = d.args.put(p.name, p.value)
	}
	if twice && text(old) != text(p.value) {
		d.refuse(record.ValueConflict, p.name, "", fmt.Sprintf("passed as %s and as %s", text(old), text(p.value)))
	}
}

// resolve notes on each setting what the engine resolved it to.
func resolve(t *record.Trial) {
	byName := map[string]string{}
	for _, s := range t.Result.Settings {
		byName[s.Name] = s.Value
	}
	for i := range t.Settings {
		t.Settings[i].Resolved = byName[t.Settings[i].Name]
	}
}
