package catalog

import "github.com/inference-sim/accuracy-dashboard/internal/quantity"

// ChipSchema names the layout of hardware/<name>.yaml.
const ChipSchema = "blis.chip/v1"

// Chip is one accelerator in one packaging. Every figure is a Fact: published,
// cited, with the sources that disagree beside it (SUB-3, SUB-18). Efficiencies
// and overheads are coefficients and live in the registry.
type Chip struct {
	Schema            string  `yaml:"schema"`
	Name              string  `yaml:"name"` // the file's name without .yaml
	Title             string  `yaml:"title"`
	Vendor            string  `yaml:"vendor"`             // nvidia, amd
	Architecture      string  `yaml:"architecture"`       // ampere, ada, hopper, blackwell, cdna3, cdna4
	ComputeCapability string  `yaml:"compute_capability"` // CUDA "9.0" or "gfx942"
	Aliases           []Alias `yaml:"aliases,omitempty"`

	Memory          Fact  `yaml:"memory"`                    // GiB visible to programs
	PhysicalMemory  *Fact `yaml:"physical_memory,omitempty"` // GiB on the package
	MemoryBandwidth Fact  `yaml:"memory_bandwidth"`          // TB/s

	// Dense peaks in TFLOP/s by operand type; absent where the chip has no such
	// tensor-core rate.
	BF16 Fact  `yaml:"bf16"`
	FP8  *Fact `yaml:"fp8,omitempty"`
	FP4  *Fact `yaml:"fp4,omitempty"`

	Power    *Fact  `yaml:"power,omitempty"`     // W
	ScaleUp  string `yaml:"scale_up,omitempty"`  // a network of kind scale_up; empty: PCIe only, no figure published
	ScaleOut string `yaml:"scale_out,omitempty"` // a network of kind scale_out
}

// MemoryBytes is the memory a program sees.
func (c *Chip) MemoryBytes() quantity.Bytes { return quantity.Bytes(c.Memory.Base()) }

// Bandwidth is the datasheet's memory bandwidth in bytes a second.
func (c *Chip) Bandwidth() quantity.PerSecond { return quantity.PerSecond(c.MemoryBandwidth.Base()) }

// Peak is the dense rate in FLOP/s for operands stored as f; ok is false when the
// chip has no such rate, in which case an engine computes in another format.
func (c *Chip) Peak(f quantity.Format) (rate quantity.PerSecond, ok bool) {
	var fact *Fact
	switch f {
	case quantity.BF16:
		fact = &c.BF16
	case quantity.FP8, quantity.FP8Block, quantity.MXFP8:
		fact = c.FP8
	case quantity.NVFP4, quantity.MXFP4:
		fact = c.FP4
	}
	if fact == nil {
		return 0, false
	}
	return quantity.PerSecond(fact.Base()), true
}

// NetworkSchema names the layout of networks/<name>.yaml.
const NetworkSchema = "blis.network/v1"

// Network is a scale-up domain (NVLink, Infinity Fabric) or a scale-out NIC.
type Network struct {
	Schema    string `yaml:"schema"`
	Name      string `yaml:"name"`
	Title     string `yaml:"title"`
	Kind      string `yaml:"kind"`            // scale_up, scale_out
	Topology  string `yaml:"topology"`        // switched, full_mesh
	World     *Fact  `yaml:"world,omitempty"` // GPUs in one scale-up domain
	Bandwidth Fact   `yaml:"bandwidth"`       // GB/s per GPU one way (scale_up), Gbit/s per NIC (scale_out)
}

// Rate is bytes a second per GPU, one way.
func (n *Network) Rate() quantity.PerSecond { return quantity.PerSecond(n.Bandwidth.Base()) }

// Domain is the GPUs in one scale-up domain; 0 for scale-out.
func (n *Network) Domain() int {
	if n.World == nil {
		return 0
	}
	return int(n.World.Value)
}

// Fact is one published figure with where it was read.
type Fact struct {
	Value   float64  `yaml:"value"`
	Unit    string   `yaml:"unit"`         // as published; the field's comment says which are taken
	Kind    string   `yaml:"kind"`         // datasheet, published, measured
	Sources []string `yaml:"sources,flow"` // ids of sources/*.yaml, at least one
	Others  []Other  `yaml:"others,omitempty"`
	Note    string   `yaml:"note,omitempty"`
}

// Other is what another source says of the same figure, not used.
type Other struct {
	Value  float64 `yaml:"value"`
	Unit   string  `yaml:"unit"`
	Source string  `yaml:"source"`
	Note   string  `yaml:"note,omitempty"`
}

// units turns a published unit into the base one: bytes, FLOPs, seconds.
var units = map[string]float64{
	"GiB": 1 << 30, "GB": 1e9, "TB/s": 1e12, "GB/s": 1e9, "Gbit/s": 1e9 / 8, "TFLOP/s": 1e12, "W": 1, "GPU": 1,
}

// Base is the figure in base units: bytes, bytes a second, FLOP/s, watts, count.
func (f Fact) Base() float64 { return f.Value * units[f.Unit] }

// SourceSchema names the layout of sources/<id>.yaml.
const SourceSchema = "blis.source/v1"

// Source is a document figures are read from.
type Source struct {
	Schema     string `yaml:"schema"`
	ID         string `yaml:"id"` // the file's name without .yaml
	Title      string `yaml:"title"`
	Repository string `yaml:"repository,omitempty"`
	Revision   string `yaml:"revision,omitempty"`
	Path       string `yaml:"path,omitempty"`
	Document   string `yaml:"document,omitempty"` // where there is no repository
	Licence    string `yaml:"licence"`
	Note       string `yaml:"note,omitempty"`
}
