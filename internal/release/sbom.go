package release

// bill is a software bill of materials in CycloneDX 1.6 (ECMA-424), with the fields a
// Go build can answer for.
type bill struct {
	Format     string      `json:"bomFormat"`
	Version    string      `json:"specVersion"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// billOf lists every module of a stack.
func billOf(s *Stack) bill {
	b := bill{Format: "CycloneDX", Version: "1.6",
		Metadata: metadata{component{Type: "application", Name: s.Main.Path, Version: s.Release, PURL: "pkg:golang/" + s.Main.Path + "@" + s.Release}}}
	b.Components = append(b.Components, component{Type: "platform", Name: "go", Version: s.Go})
	for _, m := range s.Modules {
		b.Components = append(b.Components, component{Type: "library", Name: m.Path, Version: m.Version,
			PURL: "pkg:golang/" + m.Path + "@" + m.Version, Properties: []property{{"go.sum", m.Sum}}})
	}
	return b
}
