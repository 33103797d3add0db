package site

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemaOf names the published schema of a published document, or "".
func schemaOf(name string) string {
	switch base := path.Base(name); {
	case base == "point.json":
		return "point"
	case strings.HasPrefix(name, "charts/") && !strings.HasSuffix(name, ".option.json"):
		return "chart"
	case path.Dir(name) == "data" && base != "explorer.json" && base != "search.json": // those are the pages' own
		return strings.TrimSuffix(base, ".json")
	}
	return ""
}

// Every document of a site keeps the schema that the same site publishes: it has no other property.
func TestPublishedDocumentsKeepThePublishedSchemas(t *testing.T) {
	dir := shared(t, "")
	compiled, held := map[string]*jsonschema.Schema{}, map[string]int{}
	schema := func(name string) *jsonschema.Schema {
		if compiled[name] == nil {
			s, err := jsonschema.NewCompiler().Compile(filepath.Join(dir, "reference", "schemas", name+".schema.json"))
			if err != nil {
				t.Fatal(err)
			}
			compiled[name] = s
		}
		return compiled[name]
	}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		of := schemaOf(name)
		if err != nil || d.IsDir() || path.Ext(name) != ".json" || of == "" {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			return err
		}
		if err := schema(of).Validate(document); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		held[of]++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"point", "points", "chart", "summary", "coverage", "backlog", "workbench"} {
		if held[want] == 0 {
			t.Errorf("no document was held to the schema of %s", want)
		}
	}
}

// The page of data lists every schema and every other data file of the reference.
func TestThePageOfDataListsTheReference(t *testing.T) {
	dir := shared(t, "")
	page := read(t, dir, "data/index.html")
	for _, pattern := range []string{"reference/*.json", "reference/schemas/*.json"} {
		files, err := fs.Glob(os.DirFS(dir), pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %d files", pattern, err, len(files))
		}
		for _, name := range files {
			if !strings.Contains(page, `href="../`+name+`"`) {
				t.Errorf("data/ does not list %s", name)
			}
		}
	}
}
