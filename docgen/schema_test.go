package docgen

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/registry"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"
)

// TestSchemasTakeWhatTheProjectWrites holds every committed unit, coefficient set and catalog
// entry to its schema.
func TestSchemasTakeWhatTheProjectWrites(t *testing.T) {
	keep.Rule(t, "SUB-19")
	units, err := fs.ReadFile(ledger.EmbeddedFS(), "units.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	schema, seen := compile(t, "unit"), 0
	for line := range bytes.Lines(units) {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		if seen++; schema.Validate(doc) != nil {
			t.Fatalf("SUB-19: unit %d: %v", seen, schema.Validate(doc))
		}
	}
	if seen == 0 {
		t.Error("the ledger holds no unit")
	}
	for pattern, d := range map[string]struct {
		fsys     fs.FS
		document string
	}{
		registry.Pattern:      {registry.EmbeddedFS(), "coefficients"},
		"hardware/*.yaml":     {catalog.EmbeddedFS(), "chip"},
		"networks/*.yaml":     {catalog.EmbeddedFS(), "network"},
		"routers/*.yaml":      {catalog.EmbeddedFS(), "router"},
		"sources/*.yaml":      {catalog.EmbeddedFS(), "source"},
		"*/fields.json":       {os.DirFS("../engines"), "fields"},
		"*/surface.json":      {os.DirFS("../engines"), "surface"},
		"profiles.yaml":       {os.DirFS("../registry/acceptance"), "acceptance"},
		"models/*/model.yaml": {catalog.EmbeddedFS(), "model"},
		"models/*/graph.yaml": {catalog.EmbeddedFS(), "graph"},
	} {
		files, err := fs.Glob(d.fsys, pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		schema := compile(t, d.document)
		for _, f := range files {
			if err := schema.Validate(asJSON(t, d.fsys, f)); err != nil {
				t.Errorf("SUB-19: %s: %v", path.Join(d.document, f), err)
			}
		}
	}
}

func asJSON(t *testing.T, fsys fs.FS, file string) any {
	t.Helper()
	text, err := fs.ReadFile(fsys, file)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// A nil pointer, slice or map that is written is null; so is every one of an empty trial.
func TestSchemasTakeNullWhereItIsWritten(t *testing.T) {
	trial := record.Trial{Scenario: &spec.Scenario{}, Result: &spec.Result{}}
	trial.Result.Inputs.Scenario = trial.Scenario
	b, err := json.Marshal(record.PointFile{Point: &record.Point{}, Trial: &trial})
	if err != nil {
		t.Fatal(err)
	}
	if err := validate(t, "point", b); err != nil {
		t.Errorf("an empty trial was rejected: %v", err)
	}
	for old, bad := range map[string]string{`"differences":null`: `"differences":"none"`, `"unit_id":""`: `"unit_id":null`} {
		if err := validate(t, "point", []byte(strings.Replace(string(b), old, bad, 1))); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
}

// Every document as its own type writes it, empty, meets its schema, and with a key nobody
// declared does not.
func TestEachDocumentMeetsItsSchema(t *testing.T) {
	keep.Rule(t, "SUB-19")
	for _, d := range documents {
		b, err := json.Marshal(d.value)
		if d.tag == "yaml" {
			b, err = yaml.Marshal(d.value)
		}
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := yaml.Unmarshal(b, &v); err != nil {
			t.Fatal(err)
		}
		if b, err = json.Marshal(v); err != nil {
			t.Fatal(err)
		}
		if err := validate(t, d.name, b); err != nil {
			t.Errorf("%s: an empty one was rejected: %v", d.name, err)
		}
		if one, ok := v.(map[string]any); ok {
			one["unknown"] = 1
			if b, err = json.Marshal(one); err != nil {
				t.Fatal(err)
			}
			if validate(t, d.name, b) == nil {
				t.Errorf("%s: a key that is not there was accepted", d.name)
			}
		}
	}
}
