package catalog

import (
	"fmt"
)

// RouterSchema names the layout of routers/<name>.yaml.
const RouterSchema = "blis.router/v1"

// RouterTable is a router that is not hosted here, with what each of its modes maps to.
// A mode without an entry maps to nothing, and a run behind it is not scored.
type RouterTable struct {
	Schema string       `yaml:"schema"`
	Name   string       `yaml:"name"` // the file's name without .yaml, as runs record it
	Title  string       `yaml:"title"`
	Modes  []RouterMode `yaml:"modes"`
}

// RouterMode is one mode and session-affinity setting. Exactly one of Policy and
// NoneClose is set, and both routers' code is cited either way.
type RouterMode struct {
	Mode      string   `yaml:"mode"`
	Affinity  string   `yaml:"session_affinity,omitempty"`
	Policy    string   `yaml:"policy,omitempty"`     // the llm-d policy that decides alike
	NoneClose string   `yaml:"none_close,omitempty"` // why no llm-d policy does
	Evidence  string   `yaml:"evidence"`             // what was compared
	Sources   []string `yaml:"sources"`              // of both routers, each pinned to a revision
}

// Router returns a router's entry by the name runs record.
func (c *Catalog) Router(name string) (*RouterTable, bool) {
	r, ok := c.routers[name]
	return r, ok
}

// Mode finds the entry of a mode and session-affinity setting.
func (r *RouterTable) Mode(mode, affinity string) (*RouterMode, bool) {
	for i := range r.Modes {
		if m := &r.Modes[i]; m.Mode == mode && m.Affinity == affinity {
			return m, true
		}
	}
	return nil, false
}

func (c *Catalog) checkRouter(r *RouterTable) error {
	file := fill("routers/%.yaml", r.Name)
	seen := map[[2]string]bool{}
	for i, m := range r.Modes {
		field := fmt.Sprintf("modes[%d]", i)
		key := [2]string{m.Mode, m.Affinity}
		switch {
		case m.Mode == "" || seen[key]:
			return refuse(file, field+".mode", m.Mode, "is missing or repeated", "each mode and session_affinity once", "SUB-12")
		case (m.Policy == "") == (m.NoneClose == ""):
			return refuse(file, field, m.Policy, "must state either policy or none_close", "one of them", "COV-5")
		case m.Evidence == "":
			return refuse(file, field+".evidence", "", "is empty", "what of both routers was compared", "SUB-3")
		case len(m.Sources) < 2:
			return refuse(file, field+".sources", fmt.Sprint(m.Sources), "cite fewer than two routers", "a source of this router and one of llm-d's", "SUB-3")
		}
		if err := c.checkCited(file, field+".sources", m.Sources); err != nil {
			return err
		}
		for _, id := range m.Sources {
			if c.sources[id].Revision == "" {
				return refuse(file, field+".sources", id, "is pinned to no revision", "a source with a repository and a revision", "D3")
			}
		}
		seen[key] = true
	}
	return nil
}
