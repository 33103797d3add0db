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
	if err := study.expand(base); err != nil {
		return nil, spec.Place(d.File, d.Data, err)
	}
	for i := range study.Arms {
		if err := study.modelled(&study.Arms[i], fieldsOf); err != nil {
			return nil, spec.Place(d.File, d.Data, err)
		}
	}
	return study, nil
}

// expand makes the arms in declared order. An option that makes no scenario with any
// option of the other axes is a mistake of the specification; one that makes none with
// some is an arm that cannot be.
func (s *Study) expand(base Document) error {
	axes := s.Spec.Axes
	picked := make([]int, len(axes))
	works := make([]map[int]bool, len(axes))
	for i := range works {
		works[i] = map[int]bool{}
	}
	for more := true; more; more = next(picked, axes) {
		arm, err := s.arm(base, picked)
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
			return within(a.Refused.Field, path) || within(path, a.Refused.Field)
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

// arm is the base with the picked options set.
func (s *Study) arm(base Document, picked []int) (Arm, error) {
	var tree map[string]any
	if err := strict.YAML(base.File, base.Data, &tree); err != nil {
		return Arm{}, err
	}
	arm := Arm{picked: slices.Clone(picked)}
	for i, option := range picked {
		a := &s.Spec.Axes[i]
		o := a.choices()[option]
		arm.Choices = append(arm.Choices, o.Name)
		for _, path := range slices.Sorted(maps.Keys(o.Set)) {
			steps, _ := split(path) // checked with the specification
			if err := set(tree, steps, o.Set[path]); err != nil {
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
func set(at any, steps []string, v any) error {
	step, rest := steps[0], steps[1:]
	if index, ok := strings.CutPrefix(step, "["); ok {
		list, ok := at.([]any)
		i, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
		if err != nil || !ok || i >= len(list) {
			return fmt.Errorf("has no entry %s in the base scenario", step)
		}
		if len(rest) == 0 {
			list[i] = v
			return nil
		}
		return set(list[i], rest, v)
	}
	m, ok := at.(map[string]any)
	if !ok {
		return fmt.Errorf("leads through a value that has no key %s", step)
	}
	key := stated(m, step)
	if len(rest) == 0 {
		m[key] = v
		return nil
	}
	if m[key] == nil {
		m[key] = map[string]any{}
	}
	return set(m[key], rest, v)
}

// stated is the key of m that step means: an engine setting may be spelt with - or _.
func stated(m map[string]any, step string) string {
	if _, ok := m[step]; ok {
		return step
	}
	for key := range m { //determinism:any-order at most one is alike, as the engines refuse two
		if strings.ReplaceAll(key, "_", "-") == strings.ReplaceAll(step, "_", "-") {
			return key
		}
	}
	return step
}
