package page

import (
	"fmt"
	"sort"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// trial shows how a point came about: where time went, what priced it, what the run recorded and
// what became of it.
func trial(t *record.Trial) []Block {
	var blocks []Block
	if t.Result != nil {
		blocks = append(blocks, timeBar(t.Result)...)
		blocks = append(blocks, timeline(t.Timeline)...)
		blocks = append(blocks, methods(t.Result)...)
		blocks = append(blocks, typical(t.Steps)...)
		blocks = append(blocks, simulatedFigures(t.Result), engines(t.Result))
	}
	blocks = append(blocks, settings(t)...)
	if t.Unit != nil {
		blocks = append(blocks, launch(t.Unit)...)
	}
	return blocks
}

func timeBar(r *spec.Result) []Block {
	var parts []Part
	var sizes []float64
	var said []string
	for i, p := range r.Parts {
		parts = append(parts, Part{Name: strings.ReplaceAll(p.Part, "_", " "), Value: fmt.Sprintf("%s (%s s)", percent(p.Share), number(p.Seconds)), Tone: fmt.Sprintf("t%d", i%6)})
		sizes = append(sizes, p.Seconds)
		said = append(said, p.Part+" "+percent(p.Share))
	}
	if len(parts) == 0 {
		return nil
	}
	return []Block{{Kind: "bar", ID: "time", Title: "Where simulated time went",
		Note: "Extend steps read prompts (prefill), decode steps write an answer token by token, mixed steps do both.", Bar: newBar("Simulated engine time: "+strings.Join(said, ", "), parts, sizes)}}
}

func methods(r *spec.Result) []Block {
	if len(r.Methods) == 0 {
		return nil
	}
	t := &Table{ID: "methods", Caption: "Least trusted method behind each step's price", Columns: []Column{{Label: "Method"}, {Label: "Steps", Num: true}, {Label: "Seconds", Num: true}, {Label: "Share of priced time", Num: true}}}
	for _, m := range r.Methods {
		t.Rows = append(t.Rows, row(m.Method, count(int(m.Steps)), number(m.Seconds), percent(m.Share)))
	}
	return []Block{{Kind: "table", ID: "methods", Title: "How the steps were priced", Note: "Each step counts under the least trusted method that any of its coefficients rests on. " + validity(r.Validity), Table: t}}
}

// validity says whether held-out runs cover the scenario, in a sentence.
func validity(v spec.Validity) string {
	where := "Outside"
	if v.Inside == "inside" {
		where = "Inside"
	}
	return fmt.Sprintf("%s the range of held-out runs: %s.", where, v.Statement)
}

// typical takes a step or two of the run apart.
func typical(steps []record.TypicalStep) []Block {
	var blocks []Block
	for i, st := range steps {
		b := Block{Kind: "table", Fold: true, ID: fmt.Sprintf("step-%d", i+1), Title: "A step taken apart: " + st.Name, Note: fmt.Sprintf("%s ms in all.", number(st.Seconds*1000)),
			Table: &Table{ID: fmt.Sprintf("step-%d", i+1), Caption: "Parts of the step", Sortable: true, Columns: []Column{{Label: "Part"}, {Label: "Primitive"}, {Label: "Kernel"}, {Label: "Time", Unit: "ms", Num: true}, {Label: "Method"}, {Label: "Coefficients"}, {Label: "Flags"}}}}
		for _, p := range st.Parts {
			b.Table.Rows = append(b.Table.Rows, Row{Cells: []Cell{text(p.Name), text(p.Primitive), code(p.Kernel), {Text: number(p.Seconds * 1000), Value: raw(p.Seconds)}, text(p.Method),
				code(strings.Join(p.Entries, " ")), text(strings.Join(p.Flags, ", "))}})
		}
		blocks = append(blocks, b)
	}
	return blocks
}

func simulatedFigures(r *spec.Result) Block {
	t := &Table{ID: "figures", Caption: "Every simulated figure of the cluster", Sortable: true, Columns: []Column{{Label: "Metric"}, {Label: "Unit"}, {Label: "Simulated", Num: true}, {Label: "Samples", Num: true}, {Label: "Interval"}}}
	for _, f := range r.Figures {
		if f.Scope != "cluster" {
			continue
		}
		value, unit := quantity(f.Value, f.Unit)
		interval := f.NoInterval
		if f.Interval != nil {
			low, _ := quantity(f.Interval.Low, f.Unit)
			high, _ := quantity(f.Interval.High, f.Unit)
			interval = fmt.Sprintf("%s to %s over %d %s", low, high, f.Interval.Runs, f.Interval.Covers)
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{text(metricName(f.Metric)), text(unit), {Text: value, Value: raw(f.Value)}, text(count(int(f.Count))), text(interval)}})
	}
	return Block{Kind: "table", Fold: true, ID: "simulated", Title: "Everything the simulation reported", Note: "Most have no measured counterpart in the source. ITL is the time between streamed chunks: where the engine's stream interval puts several tokens in a chunk, it is about as many times TPOT.", Table: t}
}

func engines(r *spec.Result) Block {
	t := &Table{ID: "engines", Caption: "Engine instances", Columns: []Column{{Label: "Instance"}, {Label: "Chips", Num: true}, {Label: "KV blocks", Num: true}, {Label: "Steps", Num: true}, {Label: "Most running", Num: true},
		{Label: "Most waiting", Num: true}, {Label: "Preemptions", Num: true}, {Label: "Highest KV use", Num: true}, {Label: "Busy", Unit: "s", Num: true}}}
	for _, e := range r.Engines {
		t.Rows = append(t.Rows, row(fmt.Sprint(e.Instance), fmt.Sprint(e.Accelerators), count(e.KVBlocks), count(int(e.Steps)), count(e.MaxRunning), count(e.MaxWaiting), count(int(e.Preemptions)), percent(e.MaxKVUsage), number(e.Busy)))
	}
	return Block{Kind: "table", ID: "engine", Title: "What the engine did", Table: t}
}

// settings are what the run recorded beside what the scenario states, then what the engine made
// of the scenario.
func settings(tr *record.Trial) []Block {
	recorded := &Table{ID: "recorded", Caption: "Settings the run recorded", Sortable: true, Columns: []Column{{Label: "Setting"}, {Label: "Recorded"}, {Label: "Stage"}, {Label: "Status in the engine"}, {Label: "In the scenario"}, {Label: "Value covered by evidence"}}}
	for _, s := range tr.Settings {
		stated := s.Stated
		if stated == "" {
			stated = "left out"
		}
		covered := "no"
		if s.Covered {
			covered = "yes"
		}
		recorded.Rows = append(recorded.Rows, Row{Cells: []Cell{code(s.Name), code(s.Recorded), text(s.Stage), text(strings.ReplaceAll(string(s.Status), "_", " ")), code(stated), text(covered)}})
	}
	var blocks []Block
	if len(recorded.Rows) > 0 {
		blocks = append(blocks, Block{Kind: "table", ID: "recorded", Title: "Configuration as recorded", Note: "Copied as the run passed it; the engine's own field list says what becomes of it.", Table: recorded})
	}
	if tr.Result == nil || len(tr.Result.Settings) == 0 {
		return blocks
	}
	resolved := &Table{ID: "resolved", Caption: "Settings as the engine resolved them", Sortable: true, Columns: []Column{{Label: "Setting"}, {Label: "Value"}, {Label: "Source"}, {Label: "Why"}}}
	for _, s := range tr.Result.Settings {
		resolved.Rows = append(resolved.Rows, Row{Cells: []Cell{code(s.Name), code(s.Value), text(s.Source), {Text: s.Why, Class: "wrap"}}})
	}
	return append(blocks, Block{Kind: "table", Fold: true, ID: "resolved", Title: "Configuration as resolved", Table: resolved})
}

// launch are the facts of how the run was started and which source records report it.
func launch(u *ledger.Unit) []Block {
	var blocks []Block
	for i := range u.Configurations {
		c := &u.Configurations[i]
		id, name := "launch", "How the run was launched"
		if i > 0 {
			id, name = fmt.Sprintf("launch-%d", i+1), fmt.Sprintf("How the run was launched, variant %d", i+1)
		}
		blocks = append(blocks, Block{Kind: "facts", ID: id, Title: name, Note: strings.Join(c.Notes, "; "), Facts: launchFacts(c)})
	}
	t := &Table{ID: "records", Caption: "Records of the source", Columns: []Column{{Label: "Record"}, {Label: "Line", Num: true}, {Label: "TTFT mean", Unit: "ms", Num: true}, {Label: "TPOT mean", Unit: "ms", Num: true}, {Label: "What the ledger did"}, {Label: "From"}}}
	for _, m := range u.Measurements {
		for _, r := range m.Records {
			did := string(r.Disposition)
			if r.Rule != "" {
				did += ": " + r.Rule
			}
			t.Rows = append(t.Rows, Row{Cells: []Cell{code(r.RowID), text(fmt.Sprint(r.Line)), text(number(m.TTFTMeanMS)), text(number(m.TPOTMeanMS)), text(did), text(r.Dump)}})
		}
	}
	return append(blocks, Block{Kind: "table", ID: "records", Title: "Measured records", Table: t})
}

func launchFacts(c *ledger.Configuration) []Fact {
	facts := []Fact{{Name: "Match in the benchmark's history", Value: c.Match}, {Name: "Speculation", Value: c.Speculation}}
	add := func(name string, value *string) {
		if value != nil {
			facts = append(facts, Fact{Name: name, Value: *value})
		}
	}
	add("Checkpoint", c.Checkpoint)
	add("Image", c.Image)
	if o := c.Origin; o != nil {
		facts = append(facts, Fact{Name: "Sweep entry", Value: o.Config}, Fact{Name: "Launch script", Value: o.Script})
	}
	if k := c.Client; k != nil {
		add("Client commit", k.Commit)
		facts = append(facts, Fact{Name: "Client", Value: k.Repo + " " + k.Path}, Fact{Name: "Lengths drawn from", Value: fmt.Sprintf("%g of nominal to nominal", k.RandomRangeRatio)},
			Fact{Name: "Requests", Value: optional(k.NumPrompts)}, Fact{Name: "Warm-up requests", Value: optional(k.NumWarmups)}, Fact{Name: "Request rate", Value: k.RequestRate})
	}
	if len(c.Env) > 0 {
		var env []string
		for k, v := range c.Env {
			env = append(env, k+"="+v)
		}
		sort.Strings(env)
		facts = append(facts, Fact{Name: "Environment", Value: strings.Join(env, " ")})
	}
	return facts
}

func optional(n *int) string {
	if n == nil {
		return "not recorded"
	}
	return count(*n)
}
