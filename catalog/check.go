package catalog

import (
	"fmt"
	"slices"
	"strconv"
)

// check validates every entry and what ties entries together. Entries are visited
// in byte order of their names, so the first refusal is always the same one.
func (c *Catalog) check() error {
	for _, id := range names(c.sources) {
		if err := c.checkSource(c.sources[id]); err != nil {
			return err
		}
	}
	for _, name := range names(c.networks) {
		if err := c.checkNetwork(c.networks[name]); err != nil {
			return err
		}
	}
	for _, name := range names(c.chips) {
		if err := c.checkChip(c.chips[name]); err != nil {
			return err
		}
	}
	for _, name := range names(c.routers) {
		if err := c.checkRouter(c.routers[name]); err != nil {
			return err
		}
	}
	for _, name := range names(c.graphs) {
		if c.models[name] == nil {
			return refuse(fill("models/%/graph.yaml", name), "", "", "has no model.yaml beside it", fill("models/%/model.yaml", name), "SUB-3")
		}
	}
	for _, name := range names(c.models) {
		if err := c.checkModel(c.models[name]); err != nil {
			return err
		}
	}
	return nil
}

func (c *Catalog) checkSource(s *Source) error {
	file := fill("sources/%.yaml", s.ID)
	if s.Document == "" && (s.Repository == "" || s.Revision == "" || s.Path == "") {
		return refuse(file, "", "", "cannot be followed", "repository, revision and path, or document", "SUB-3")
	}
	if s.Licence == "" {
		return refuse(file, "licence", "", "is missing", `a licence, or "none stated"`, "SUB-3")
	}
	return nil
}

func (c *Catalog) checkNetwork(n *Network) error {
	file := fill("networks/%.yaml", n.Name)
	unit := map[string]string{"scale_up": "GB/s", "scale_out": "Gbit/s"}[n.Kind]
	if unit == "" {
		return refuse(file, "kind", n.Kind, "is not a kind of network", "scale_up, scale_out", "SUB-12")
	}
	if !slices.Contains([]string{"switched", "full_mesh"}, n.Topology) {
		return refuse(file, "topology", n.Topology, "is not a topology", "switched, full_mesh", "SUB-12")
	}
	if (n.World != nil) != (n.Kind == "scale_up") {
		return refuse(file, "world", "", "is the size of a scale-up domain", "world on scale_up alone", "SUB-12")
	}
	if err := c.checkFact(file, "world", n.World, "GPU"); err != nil {
		return err
	}
	return c.checkFact(file, "bandwidth", &n.Bandwidth, unit)
}

func (c *Catalog) checkChip(chip *Chip) error {
	file := fill("hardware/%.yaml", chip.Name)
	for _, f := range []struct {
		field string
		fact  *Fact
		unit  string
	}{
		{"memory", &chip.Memory, "GiB"}, {"physical_memory", chip.PhysicalMemory, "GiB"},
		{"memory_bandwidth", &chip.MemoryBandwidth, "TB/s"},
		{"bf16", &chip.BF16, "TFLOP/s"}, {"fp8", chip.FP8, "TFLOP/s"}, {"fp4", chip.FP4, "TFLOP/s"},
		{"power", chip.Power, "W"},
	} {
		if err := c.checkFact(file, f.field, f.fact, f.unit); err != nil {
			return err
		}
	}
	for _, tie := range []struct{ field, network string }{{"scale_up", chip.ScaleUp}, {"scale_out", chip.ScaleOut}} {
		if n := c.networks[tie.network]; tie.network != "" && (n == nil || n.Kind != tie.field) {
			return refuse(file, tie.field, tie.network, "is not a "+tie.field+" network of the catalog", fmt.Sprint(c.Networks()), "SUB-3")
		}
	}
	return c.addAliases(file, Ref{Kind: "chip", Name: chip.Name}, chip.Aliases)
}

// checkFact holds a figure to SUB-3 and SUB-18: positive, in its unit, of a stated
// kind, cited by a source of this catalog.
func (c *Catalog) checkFact(file, field string, f *Fact, unit string) error {
	if f == nil {
		return nil
	}
	num := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	if !(f.Value > 0) {
		return refuse(file, field+".value", num(f.Value), "is not positive", "a figure > 0", "SUB-18")
	}
	if f.Unit != unit {
		return refuse(file, field+".unit", f.Unit, "is not this field's unit", unit, "SUB-16")
	}
	if !slices.Contains([]string{"datasheet", "published", "measured"}, f.Kind) {
		return refuse(file, field+".kind", f.Kind, "is not a kind of figure", "datasheet, published, measured", "SUB-18")
	}
	for i, o := range f.Others {
		at := fmt.Sprintf("%s.others[%d]", field, i)
		if _, ok := units[o.Unit]; !ok || !(o.Value > 0) {
			return refuse(file, at, num(o.Value)+" "+o.Unit, "is not a figure with a unit", "a figure > 0 in a known unit", "SUB-16")
		}
		if err := c.checkCited(file, at+".source", []string{o.Source}); err != nil {
			return err
		}
	}
	return c.checkCited(file, field+".sources", f.Sources)
}

func (c *Catalog) checkCited(file, field string, ids []string) error {
	if len(ids) == 0 {
		return refuse(file, field, "", "cites nothing", fmt.Sprint(c.Sources()), "SUB-3")
	}
	for _, id := range ids {
		if c.sources[id] == nil {
			return refuse(file, field, id, "is not a source of the catalog", fmt.Sprint(c.Sources()), "SUB-3")
		}
	}
	return nil
}

// addAliases makes ref findable by its own name and by each alias, and refuses a
// name that already stands for another entry.
func (c *Catalog) addAliases(file string, ref Ref, aliases []Alias) error {
	own := Ref{Kind: ref.Kind, Name: ref.Name}
	if err := c.addAlias(file, Alias{Name: ref.Name}, own); err != nil {
		return err
	}
	for _, a := range aliases {
		if a.Source == "" || a.Name == "" {
			return refuse(file, "aliases", a.Source+" "+a.Name, "names no source or no name", "source and name", "SUB-12")
		}
		if err := c.addAlias(file, Alias{Source: a.Source, Name: a.Name}, own); err != nil {
			return err
		}
	}
	return nil
}

func (c *Catalog) addAlias(file string, a Alias, ref Ref) error {
	if other, taken := c.aliases[a]; taken && other != ref {
		return refuse(file, "aliases", a.Name, "already stands for "+other.Kind+" "+other.Name, "a name of one entry", "SUB-12")
	}
	c.aliases[a] = ref
	return nil
}
