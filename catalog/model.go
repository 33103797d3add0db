package catalog

// ModelSchema names the layout of model.yaml.
const ModelSchema = "blis.model/v1"

// Model is one catalog entry: who it is, how others name it, which checkpoints of
// it are launched. Its structure is Graph.
type Model struct {
	Schema      string       `yaml:"schema"`
	Name        string       `yaml:"name"` // the directory under models/
	Title       string       `yaml:"title"`
	Parameters  Parameters   `yaml:"parameters"`
	DerivedFrom GraphInput   `yaml:"derived_from"`
	Aliases     []Alias      `yaml:"aliases,omitempty"`
	Checkpoints []Checkpoint `yaml:"checkpoints"`

	Graph *Graph `yaml:"-"`
}

// Parameters are the counts the owner publishes; Graph.Params must agree with
// them (SUB-15).
type Parameters struct {
	Total   Count    `yaml:"total"`
	Active  *Count   `yaml:"active,omitempty"` // one token's share; absent for dense models
	Sources []string `yaml:"sources,flow"`
	Note    string   `yaml:"note,omitempty"`
}

// Count is a published number of parameters and how far, as a ratio, the graph's
// may lie from it.
type Count struct {
	Value     float64 `yaml:"value"`
	Tolerance float64 `yaml:"tolerance"`
}

// GraphInput names the vendor configurations graph.yaml is derived from: for each
// checkpoint, its config.json (and hf_quant_config.json) as Source carries it.
type GraphInput struct {
	Source      string   `yaml:"source"`
	Checkpoints []string `yaml:"checkpoints"`
}

// Alias is this entry's name in one data source. Two entries never share one.
type Alias struct {
	Source string `yaml:"source"`
	Name   string `yaml:"name"`
	Note   string `yaml:"note,omitempty"`
}

// Checkpoint is one published set of weights. Its Storage is that of the graph
// checkpoint StoredAs (its own name when that is empty), or is stated here with
// Sources when no vendor file says it.
type Checkpoint struct {
	Name       string   `yaml:"name"`            // as passed to an engine, e.g. openai/gpt-oss-120b
	Precisions []string `yaml:"precisions,flow"` // labels data sources give it
	StoredAs   string   `yaml:"stored_as,omitempty"`
	Stated     *Storage `yaml:"stated,omitempty"`
	Sources    []string `yaml:"sources,omitempty,flow"`
	Note       string   `yaml:"note,omitempty"`

	Storage Storage `yaml:"-"` // resolved by Open
}

// Checkpoint returns the checkpoint of that name; ok is false when there is none.
func (m *Model) Checkpoint(name string) (*Checkpoint, bool) {
	for i := range m.Checkpoints {
		if m.Checkpoints[i].Name == name {
			return &m.Checkpoints[i], true
		}
	}
	return nil, false
}

// ForPrecision returns the first checkpoint a data source may call precision, the
// entry's preferred one.
func (m *Model) ForPrecision(precision string) (*Checkpoint, bool) {
	for i := range m.Checkpoints {
		for _, p := range m.Checkpoints[i].Precisions {
			if p == precision {
				return &m.Checkpoints[i], true
			}
		}
	}
	return nil, false
}
