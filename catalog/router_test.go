package catalog

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// A router table maps a mode only with a cited comparison of both routers, pinned
// to the revisions compared (COV-5, D3).
func TestRouterTable(t *testing.T) {
	keep.Rule(t, "COV-5")
	const table = `schema: blis.router/v1
name: r
title: R
modes:
  - {mode: round_robin, policy: round-robin, evidence: both take the next endpoint in turn, sources: [theirs, ours]}
  - {mode: cached, session_affinity: "on", none_close: it predicts hits from its own tree, evidence: both scorers, sources: [theirs, ours]}
`
	open := func(text string) (*Catalog, error) {
		base := tiny()
		for _, id := range []string{"theirs", "ours"} {
			base["sources/"+id+".yaml"] = &fstest.MapFile{Data: []byte("schema: blis.source/v1\nid: " + id + "\ntitle: T\nrepository: o/" + id + "\nrevision: 71f4f0999f95b96c49a9d0c4afbd18dfdb943c26\npath: p\nlicence: none stated\n")}
		}
		base["routers/r.yaml"] = &fstest.MapFile{Data: []byte(text)}
		return Open(base)
	}
	c, err := open(table)
	if err != nil {
		t.Fatal(err)
	}
	r, ok := c.Router("r")
	if !ok {
		t.Fatal("router r was not read")
	}
	if m, ok := r.Mode("round_robin", ""); !ok || m.Policy != "round-robin" {
		t.Errorf("round_robin: got %+v, %v, want its policy", m, ok)
	}
	if m, ok := r.Mode("cached", "on"); !ok || m.Policy != "" {
		t.Errorf("cached: got %+v, %v, want no policy", m, ok)
	}
	if _, ok := r.Mode("cached", ""); ok {
		t.Error("a mode without an entry was found")
	}
	for _, b := range []struct{ old, new, want string }{
		{"policy: round-robin, ", "", "must state either policy or none_close"},
		{"none_close: it predicts hits from its own tree", "none_close: no, policy: p", "must state either policy or none_close"},
		{"sources: [theirs, ours]", "sources: [theirs]", "cite fewer than two routers"},
		{"sources: [theirs, ours]", "sources: [theirs, s]", "is pinned to no revision"},
		{"evidence: both scorers", `evidence: ""`, "evidence: is empty"},
		{"mode: cached, session_affinity: \"on\"", "mode: round_robin", "is missing or repeated"},
		{"name: r", "name: q", "is not what the path says"},
	} {
		if _, err := open(strings.Replace(table, b.old, b.new, 1)); err == nil || !strings.Contains(err.Error(), b.want) {
			t.Errorf("%s: got %v, want %q", b.new, err, b.want)
		}
	}
}
