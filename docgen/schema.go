package docgen

import (
	"encoding"
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/plot"
	"github.com/inference-sim/accuracy-dashboard/invariants"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/registry"
	"github.com/inference-sim/accuracy-dashboard/registry/acceptance"
	"github.com/inference-sim/accuracy-dashboard/scorer/gate"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/scorer/snapshot"
	"github.com/inference-sim/accuracy-dashboard/sim/search"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/invopop/jsonschema"
)

// document is one kind of file and its Go type.
type document struct {
	name, what string
	value      any
	tag        string // the tag that names its keys
}

// documents is the closed list; its order is the reader's.
var documents = []document{
	{"scenario", "what to simulate and how it is measured", spec.Scenario{}, "yaml"},
	{"result", "what one run gave", spec.Result{}, "json"},
	{"search", "what a search varies, ranks by and asks for", search.Spec{}, "yaml"},
	{"search-report", "what a search found: every arm ranked, or why not", search.Report{}, "json"},
	{"unit", "one measured run", ledger.Unit{}, "json"},
	{"trial", "a unit turned into a scenario and run", record.Trial{}, "json"},
	{"points", "every point of a release", []record.Point{}, "json"},
	{"point", "what a point's page says: a trial compared and graded, and the trial", record.PointFile{}, "json"},
	{"summary", "the published accuracy", record.Summary{}, "json"},
	{"coverage", "what is scored and what is not", record.Coverage{}, "json"},
	{"backlog", "what lowers coverage or grade, ranked", record.Backlog{}, "json"},
	{"change", "what moved between two builds", record.Change{}, "json"},
	{"snapshot", "a published release: its build, its provenance and the hash of each file", snapshot.Manifest{}, "json"},
	{"index", "the published releases, in the order they were scored", snapshot.Index{}, "json"},
	{"build", "what made the figures", record.Build{}, "json"},
	{"stack", "what the program was built of", snapshot.Stack{}, "json"},
	{"predictions", "what a candidate hands to the jobs that hold the role seed", gate.Predictions{}, "json"},
	{"pre-registration", "what a change is judged on, said first", gate.Registration{}, "yaml"},
	{"evaluation", "one reading of secret units", gate.Evaluation{}, "json"},
	{"residuals", "how far fits are from data they never saw", record.Residuals{}, "json"},
	{"chart", "the data of one chart", plot.Data{}, "json"},
	{"workbench", "what the site's workbench starts from", record.Workbench{}, "json"},
	{"chip", "a catalog chip", catalog.Chip{}, "yaml"},
	{"network", "a catalog network", catalog.Network{}, "yaml"},
	{"model", "a catalog model", catalog.Model{}, "yaml"},
	{"graph", "a model's structure", catalog.Graph{}, "yaml"},
	{"router", "a router that is not hosted, and what each of its modes maps to", catalog.RouterTable{}, "yaml"},
	{"source", "where a catalog entry was read", catalog.Source{}, "yaml"},
	{"coefficients", "a coefficient set", registry.Set{}, "yaml"},
	{"acceptance", "how many drafts of speculative decoding are accepted, as published", acceptance.Set{}, "yaml"},
	{"fields", "an engine's field list", fields.List{}, "json"},
	{"surface", "an engine's features", fields.Surface{}, "json"},
	{"rules", "the project's rules", []invariants.Record{}, "yaml"},
	{"rules-run", "how the checks of every rule ended on one tree", invariants.Run{}, "json"},
}

// SchemaNames lists the documents that have a schema.
func SchemaNames() []string {
	out := make([]string, len(documents))
	for i, d := range documents {
		out[i] = d.name
	}
	return out
}

// Schema returns the JSON Schema (draft 2020-12) of a document by name.
func Schema(name string) ([]byte, error) {
	i := slices.IndexFunc(documents, func(d document) bool { return d.name == name })
	if i < 0 {
		return nil, &diag.Refusal{Field: "document", Value: name, Problem: "has no schema", Accept: diag.OneOf(name, SchemaNames()), Rule: "SUB-19"}
	}
	d := documents[i]
	named := map[string]reflect.Type{} // by definition
	r := jsonschema.Reflector{Anonymous: true, FieldNameTag: d.tag, Mapper: opaque, Namer: func(t reflect.Type) string {
		return definitionOf(t, named)
	}}
	s := r.Reflect(d.value)
	s.Title, s.Description = d.name, d.what
	if d.tag == "json" {
		for name, definition := range s.Definitions {
			allowNulls(definition, named[name])
		}
	} else {
		for _, definition := range s.Definitions {
			leaveDefaultsOut(definition)
		}
	}
	b, err := json.MarshalIndent(s, "", "  ")
	return append(b, '\n'), err
}

// definitionOf is the name of t's definition: its own, after its package's where another
// type of the document has that name.
func definitionOf(t reflect.Type, named map[string]reflect.Type) string {
	name := t.Name()
	if other := named[name]; name != "" && other != nil && other != t {
		name = path.Base(t.PkgPath()) + "." + name
	}
	named[name] = t
	return name
}

// opaque gives the schema of types whose document form is not their fields.
func opaque(t reflect.Type) *jsonschema.Schema {
	switch {
	case t == reflect.TypeFor[record.Figure]():
		r := jsonschema.Reflector{Anonymous: true, ExpandedStruct: true}
		s := r.ReflectFromType(record.FigureFields)
		s.Version = ""
		return s
	case t.Kind() == reflect.Slice && reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()): // numbers as text, of which one alone reads as a number
		return oneOfTypes("string", "number")
	}
	return nil
}

// allowNulls lets the properties of a struct's schema be null where encoding/json writes
// null: a pointer, slice or map that is not left out when empty.
func allowNulls(s *jsonschema.Schema, t reflect.Type) {
	if t == nil || t.Kind() != reflect.Struct {
		return
	}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch f.Type.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
		default:
			continue
		}
		property, ok := s.Properties.Get(name)
		switch {
		case !ok || strings.Contains(options, "omit"):
		case property.Type == "":
			s.Properties.Set(name, &jsonschema.Schema{AnyOf: []*jsonschema.Schema{property, {Type: "null"}}})
		default:
			property.Extras, property.Type = oneOfTypes(property.Type, "null").Extras, ""
		}
	}
}

// leaveDefaultsOut requires of a person who writes a document no property with a default.
func leaveDefaultsOut(s *jsonschema.Schema) {
	s.Required = slices.DeleteFunc(s.Required, func(name string) bool {
		property, ok := s.Properties.Get(name)
		return ok && property.Default != nil
	})
}

// oneOfTypes is a schema of several types, which jsonschema.Schema has no field for.
func oneOfTypes(types ...string) *jsonschema.Schema {
	return &jsonschema.Schema{Extras: map[string]any{"type": types}}
}

func schemas(out map[string][]byte) (string, error) {
	var rows [][]string
	for _, d := range documents {
		b, err := Schema(d.name)
		if err != nil {
			return "", err
		}
		out[dir+"schemas/"+d.name+".schema.json"] = b
		rows = append(rows, []string{d.name, d.what, code("blis schema " + d.name)})
	}
	return table([]string{"document", "what it is", "print its schema"}, rows), nil
}
