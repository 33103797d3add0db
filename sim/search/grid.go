package search

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// Study is a specification with the arms of its grid.
type Study struct {
	Spec *Spec
	Arms []Arm
	Base Input // the base scenario as it was read
}

// Input is a file that the report rests on.
type Input struct {
	Path   string `json:"path"` // as it was given
	SHA256 string `json:"sha256"`
}

// Arm is one point of the grid.
type Arm struct {
	Choices  []string       // the option of each axis
	Scenario *spec.Scenario // nil when no scenario says so
	Refused  *diag.Refusal  // why the arm cannot be asked of an engine
	picked   []int          // index of the option of each axis
}

// Document is a file as it was read; errors name it File.
type Document struct {
	File string
	Data []byte
}

// Open reads a specification, and through read the base scenario it names, and lays
// out the grid. fieldsOf gives the field list of an engine, nil for one that is not in
// this build.
func Open(d Document, read func(base string) (Document, error), fieldsOf func(kind string) *fields.List) (*Study, error) {
	s, err := Parse(d.File, d.Data)
	if err != nil {
		return nil, err
	}
	base, err := read(s.Base)
	if err != nil {
		return nil, spec.Place(d.File, d.Data, err)
	}
	if _, err := spec.Parse(base.File, base.Data); err != nil {
		return nil, err
	}
	study := &Study{Spec: s, Base: Input{s.Base, canon.Sum(base.Data)}}
	if err := study.expand(base, fieldsOf); err != nil {
		return nil, spec.Place(d.File, d.Data, err)
	}
	for i := range study.Arms {
		if err := study.modelled(&study.Arms[i], fieldsOf); err != nil {
			return nil, spec.Place(d.File, d.Data, err)
		}
	}
	if err := study.possible(); err != nil {
		return nil, spec.Place(d.File, d.Data, err)
	}
	return study, nil
}

// expand makes the arms in declared order. An option that makes no scenario with any
// option of the other axes is a mistake of the specification; one that makes none with
// some is an arm that cannot be.
func (s *Study) expand(base Document, fieldsOf func(kind string) *fields.List) error {
	axes := s.Spec.Axes
	picked := make([]int, len(axes))
	works := make([]map[int]bool, len(axes))
	for i := range works {
		works[i] = map[int]bool{}
	}
	for more := true; more; more = next(picked, axes) {
		arm, err := s.arm(base, picked, fieldsOf)
		if err != nil {
			return err
		}
		for axis, option := range picked {
			works[axis][option] = works[axis][option] || arm.Refused == nil
		}
		s.Arms = append(s.Arms, arm)
	}
	for i := range s.Arms {
		if err := s.mistaken(&s.Arms[i], works); err != nil {
			return err
		}
	}
	return nil
}

// mistaken is the refusal of an arm's option that never works: of those, the one that
// sets what the arm was refused for.
func (s *Study) mistaken(a *Arm, works []map[int]bool) error {
	guilty := -1
	for axis, option := range a.picked {
		if works[axis][option] {
			continue
		}
		sets := slices.ContainsFunc(slices.Collect(maps.Keys(s.Spec.Axes[axis].choices()[option].Set)), func(path string) bool {
			return overlap(a.Refused.Field, path)
		})
		if guilty < 0 || sets {
			guilty = axis
		}
	}
	if guilty < 0 {
		return nil
	}
	return &diag.Refusal{Field: s.Spec.Axes[guilty].at(guilty, a.picked[guilty]), Value: a.Choices[guilty], Problem: "makes no scenario: " + a.Refused.Error(), Accept: a.Refused.Accept, Rule: a.Refused.Rule}
}

// next counts the picks up, the last axis fastest; false after the last.
func next(picked []int, axes []Axis) bool {
	for i := len(picked) - 1; i >= 0; i-- {
		if picked[i]++; picked[i] < len(axes[i].choices()) {
			return true
		}
		picked[i] = 0
	}
	return false
}

// arm is the base with the picked options set; the arm's engine says which names of a
// setting are one.
func (s *Study) arm(base Document, picked []int, fieldsOf func(kind string) *fields.List) (Arm, error) {
	var tree map[string]any
	if err := strict.YAML(base.File, base.Data, &tree); err != nil {
		return Arm{}, err
	}
	arm, list := Arm{picked: slices.Clone(picked)}, fieldsOf(s.kind(tree, picked))
	taken := map[string]string{} // a path by its setting's one name, to how it was stated
	for i, option := range picked {
		a := &s.Spec.Axes[i]
		o := a.choices()[option]
		arm.Choices = append(arm.Choices, o.Name)
		for _, path := range slices.Sorted(maps.Keys(o.Set)) {
			for long, other := range taken { //determinism:any-order at most one is of another spelling
				if overlap(long, longPath(list, path)) {
					return Arm{}, refuse(a.at(i, option), path, "sets what "+other+" sets too", "one of its spellings, once")
				}
			}
			taken[longPath(list, path)] = path
			steps, _ := split(path) // checked with the specification
			if err := set(list, tree, steps, o.Set[path]); err != nil {
				return Arm{}, refuse(a.at(i, option), path, err.Error(), "a path of the base scenario")
			}
		}
	}
	b, err := canon.JSON(tree)
	if err != nil {
		return Arm{}, err
	}
	scenario, err := spec.Parse("", b)
	if r, ok := errors.AsType[*diag.Refusal](err); ok {
		arm.Refused = r
		return arm, nil
	}
	if err != nil {
		return Arm{}, err
	}
	f := &scenario.Frame
	f.Metrics, f.Scopes = s.asked()
	arm.Scenario = scenario
	return arm, scenario.Complete()
}

// asked is what the frame of every arm measures.
func (s *Study) asked() (metrics, scopes []string) {
	for _, q := range s.Spec.quantities() {
		kind, _, _ := strings.Cut(q.scope, ":")
		if !slices.Contains(metrics, q.metric) {
			metrics = append(metrics, q.metric)
		}
		if !slices.Contains(scopes, kind) {
			scopes = append(scopes, kind)
		}
	}
	return metrics, scopes
}

// set writes v at the place that steps lead to, making the mappings on the way.
func set(list *fields.List, at any, steps []string, v any) error {
	step, rest := steps[0], steps[1:]
	if index, ok := strings.CutPrefix(step, "["); ok {
		items, ok := at.([]any)
		i, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
		if err != nil || !ok || i >= len(items) {
			return fmt.Errorf("has no entry %s in the base scenario", step)
		}
		if len(rest) == 0 {
			items[i] = v
			return nil
		}
		return set(list, items[i], rest, v)
	}
	m, ok := at.(map[string]any)
	if !ok {
		return fmt.Errorf("leads through a value that has no key %s", step)
	}
	key := stated(list, m, step)
	if len(rest) == 0 {
		m[key] = v
		return nil
	}
	if m[key] == nil {
		m[key] = map[string]any{}
	}
	return set(list, m[key], rest, v)
}

// stated is the key of m that step means: an engine setting may be spelt with - or _,
// or by an alias.
func stated(list *fields.List, m map[string]any, step string) string {
	if _, ok := m[step]; ok {
		return step
	}
	for key := range m { //determinism:any-order at most one is alike, as the engines refuse two
		if long(list, key) == long(list, step) {
			return key
		}
	}
	return step
}

// kind is the engine of the arm of picks over a base.
func (s *Study) kind(base map[string]any, picked []int) string {
	engine, _ := base["engine"].(map[string]any)
	kind, _ := engine["kind"].(string)
	for i, option := range picked {
		set := s.Spec.Axes[i].choices()[option].Set
		if whole, ok := set["engine"].(map[string]any); ok {
			kind, _ = whole["kind"].(string)
		}
		if own, ok := set["engine.kind"].(string); ok {
			kind = own
		}
	}
	return kind
}

// longPath is a path with an engine's argument by its long name.
func longPath(list *fields.List, path string) string {
	name, ok := strings.CutPrefix(path, "engine.args.")
	if !ok {
		return path
	}
	name, below, nested := strings.Cut(name, ".")
	if name = long(list, name); nested {
		name += "." + below
	}
	return "engine.args." + name
}

// long is the one name of a setting; list is nil for an engine that is not in this build.
func long(list *fields.List, name string) string {
	if list != nil {
		name = list.Long(name)
	}
	return strings.ReplaceAll(name, "_", "-")
}
