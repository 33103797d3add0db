package page

import (
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// noSimulator is what stands where a build without the module cannot offer it.
const noSimulator = "Not available: this build of the site was made without the simulator's WebAssembly module."

// rerunnable is whether p has a Result that a scenario regenerates.
func rerunnable(p *record.Point) bool {
	return p.Trial != nil && p.Trial.Scenario != nil && p.Trial.Result != nil
}

// rerunBlock offers to run p in the reader's browser.
func (s *site) rerunBlock(p *record.Point) Block {
	b := Block{Kind: "rerun", ID: "rerun", Facts: []Fact{{Name: "Change it in the workbench", Href: "workbench/?unit=" + p.UnitID}}, Title: "Run it here",
		Note: "Simulates this point's scenario in this browser and compares the Result with the published one, byte for byte."}
	if s.Simulator != "" {
		b.Note += " The simulator is " + s.Simulator + " and is fetched when you ask for it."
	}
	return b
}

func rerun(m *markup, b *Block) {
	if m.simulator == "" {
		m.say("<p>", noSimulator+" The commands below do the same.", "</p>\n")
		return
	}
	m.put(`<div class="rerun" data-point="point.json" data-workbench="`, esc(m.root+b.Facts[0].Href), `" data-size="`, esc(m.simulator), `">`)
	m.say("<noscript><p>", "This needs a script. The commands below do the same.", "</p></noscript></div>\n")
}

func workbench(m *markup, _ *Block) {
	if m.simulator == "" {
		m.say("<p>", noSimulator+" The commands below do the same.", "</p>\n")
		return
	}
	m.put(`<div class="workbench" data-root="`, m.root, `" data-bench="`, m.root, `data/workbench.json" data-size="`, esc(m.simulator), `">`)
	m.say("<noscript><p>", "This needs a script: it would run the simulator here and show latency, throughput, use of KV memory and where engine time goes, for the settings you choose. The commands below do the same.", "</p></noscript></div>\n")
}
