package ledger

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

// launch is one line of the launch-facts file: how the run behind one row was
// started, read from the benchmark repository's history.
type launch struct {
	RowID  string `json:"row_id"`
	Match  string `json:"match"`
	Config *struct {
		Path   string      `json:"path"`
		Commit string      `json:"commit"`
		Entry  launchEntry `json:"entry"`
	} `json:"config"`
	Script *struct {
		Path   string `json:"path"`
		Commit string `json:"commit"`
		Blob   string `json:"blob"`
	} `json:"script"`
	Image      *string           `json:"image"`
	ServerArgs map[string]any    `json:"server_args"`
	Env        map[string]string `json:"env"`
	Client     *launchClient     `json:"client"`
	Spec       string            `json:"spec"`
	Candidates json.RawMessage   `json:"candidates"` // of an ambiguous match; the notes say what they share
	Notes      []string          `json:"notes"`

	line int
}

// launchEntry is the sweep entry. Its parallel sizes are inputs of the script,
// which may ignore them: server_args hold what was passed.
type launchEntry struct {
	Name          string  `json:"name"`
	Image         *string `json:"image"`
	Model         string  `json:"model"`
	ModelPrefix   string  `json:"model_prefix"`
	Runner        string  `json:"runner"`
	Precision     string  `json:"precision"`
	Framework     string  `json:"framework"`
	Multinode     bool    `json:"multinode"`
	Disagg        bool    `json:"disagg"`
	ISL           int     `json:"isl"`
	OSL           int     `json:"osl"`
	TP            int     `json:"tp"`
	EP            *int    `json:"ep"`
	DPAttn        *bool   `json:"dp_attn"`
	ConcStart     int     `json:"conc_start"`
	ConcEnd       int     `json:"conc_end"`
	Conc          *int    `json:"conc"` // null: the row's concurrency is not the run's
	SpecDecoding  string  `json:"spec_decoding"`
	MaxModelLenIn int     `json:"max_model_len_input"`
}

type launchClient struct {
	Client
	CommitNote        *string         `json:"commit_note"`
	NumPromptsPerConc *int            `json:"num_prompts_per_conc"`
	Match             string          `json:"match"`
	Candidates        json.RawMessage `json:"candidates"`
}

func readLaunches(in Input) (map[string]*launch, error) {
	launches := map[string]*launch{}
	err := eachLine(in.Name, in.Data, func(n int, line []byte) error {
		l := &launch{line: n}
		if err := strict.JSON("", line, l); err != nil {
			return err
		}
		if first, twice := launches[l.RowID]; twice {
			return &diag.Refusal{Field: "row_id", Value: l.RowID, Problem: fmt.Sprintf("repeats the facts of line %d", first.line), Accept: "each row id once"}
		}
		launches[l.RowID] = l
		return l.check()
	})
	return launches, err
}

func (l *launch) check() error {
	switch {
	case l.RowID == "":
		return &diag.Refusal{Field: "row_id", Problem: "is missing", Accept: "the id of a row"}
	case l.Match != "unique" && l.Match != "ambiguous" && l.Match != "none":
		return &diag.Refusal{Field: "match", Value: l.Match, Problem: "unknown match", Accept: "unique, ambiguous or none"}
	case l.Spec != "none" && l.Spec != "mtp" && l.Spec != "unknown":
		return &diag.Refusal{Field: "spec", Value: l.Spec, Problem: "unknown speculation", Accept: "none, mtp or unknown"}
	case l.Match == "none":
		return nil
	case l.Config == nil || l.Script == nil || l.Client == nil || l.ServerArgs == nil || l.Env == nil:
		return &diag.Refusal{Field: "match", Value: l.Match, Problem: "a matched launch lacks one of config, script, client, server_args, env", Accept: "all of them, or match none"}
	}
	return nil
}

// fits refuses launch facts that contradict the row they are joined to.
func (l *launch) fits(r *row) error {
	conflict := func(field string, fact, rowValue any) error {
		return &diag.Refusal{Field: field, Value: fmt.Sprint(fact), Problem: fmt.Sprintf("the facts of %s contradict their row, which says %v", l.RowID, rowValue), Accept: "the launch facts of these rows"}
	}
	if l.Image != nil && r.prov.image != nil && *l.Image != *r.prov.image {
		return conflict("image", *l.Image, *r.prov.image)
	}
	if c := l.Client; c != nil {
		if r.serving.ISL == nil || c.InputLen != *r.serving.ISL {
			return conflict("client.input_len", c.InputLen, r.column["isl"])
		}
		if r.serving.OSL == nil || c.OutputLen != *r.serving.OSL {
			return conflict("client.output_len", c.OutputLen, r.column["osl"])
		}
		if c.MaxConcurrency == nil || *c.MaxConcurrency != r.prov.concurrency {
			return conflict("client.max_concurrency", c.MaxConcurrency, r.prov.concurrency)
		}
	}
	return nil
}

// configuration is l as a unit records it.
func (l *launch) configuration(r *row) Configuration {
	c := Configuration{Match: l.Match, Image: l.Image, Speculation: l.Spec, ServerArgs: l.ServerArgs, Env: l.Env, Notes: l.Notes}
	if c.Image == nil {
		c.Image = r.prov.image
	}
	if l.Match == "none" {
		return c
	}
	e := l.Config.Entry
	c.Checkpoint = &e.Model
	client := l.Client.Client
	if e.Conc == nil {
		client.MaxConcurrency = nil
	}
	c.Client = &client
	c.Origin = &Origin{
		Config: l.Config.Path + "@" + l.Config.Commit, Entry: e.Name, Runner: e.Runner,
		Script: l.Script.Path + "@" + l.Script.Commit, ScriptBlob: l.Script.Blob,
	}
	return c
}

// aliased reports whether the served checkpoint is another model than the row's
// name says, variants of one model (precision, date) apart.
func (l *launch) aliased(r *row) bool {
	if l.Config == nil {
		return false
	}
	family := strings.ToLower(r.column["model_path"][strings.LastIndexByte(r.column["model_path"], '/')+1:])
	served := strings.ToLower(l.Config.Entry.Model[strings.LastIndexByte(l.Config.Entry.Model, '/')+1:])
	return !strings.HasPrefix(served, family)
}
