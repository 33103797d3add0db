package page

import (
	"encoding/json"

	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/invopop/jsonschema"
)

// documents are the published data files, each with a value of its type.
var documents = map[string]any{
	"points": []record.Point{}, "summary": record.Summary{}, "coverage": record.Coverage{}, "backlog": record.Backlog{}, "chart": ChartData{},
}

func schemaNames() []string { return sortedKeys(documents) }

// Schema is the JSON Schema of a published document, by its name without extension.
func Schema(name string) ([]byte, error) {
	r := jsonschema.Reflector{Anonymous: true, DoNotReference: false}
	s := r.Reflect(documents[name])
	s.Title = name
	data, err := json.MarshalIndent(s, "", "  ")
	return append(data, '\n'), err
}

func (s *site) schemas() error {
	for _, name := range schemaNames() {
		data, err := Schema(name)
		if err != nil {
			return err
		}
		if err := s.w.File("data/schemas/"+name+".schema.json", data); err != nil {
			return err
		}
	}
	return nil
}
