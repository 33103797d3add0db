package ledger

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

// sourceName is the one source this package ingests.
const sourceName = "inferencex"

// columns are the source's own, every one a string (aiconfigurator
// aic-core/src/aiconfigurator_core/systems/silicon_sample.csv).
var columns = []string{
	"id", "silicon_data_source", "backend", "backend_version", "model_path", "system", "precision", "mode",
	"isl", "osl", "gemm_quant_mode", "moe_quant_mode", "batch_size",
	"tp_size", "pp_size", "attention_dp_size", "moe_tp_size", "moe_ep_size",
	"prefill_batch_size", "prefill_num_workers", "prefill_tp_size", "prefill_pp_size",
	"prefill_attention_dp_size", "prefill_moe_tp_size", "prefill_moe_ep_size",
	"decode_batch_size", "decode_num_workers", "decode_tp_size", "decode_pp_size",
	"decode_attention_dp_size", "decode_moe_tp_size", "decode_moe_ep_size",
	"silicon_ttft_ms", "silicon_tpot_ms",
}

// row is one record of the rows file.
type row struct {
	line   int
	column map[string]string
	prov   provenance
	// ttft and tpot are NaN when the record has no such value.
	ttft, tpot float64
	more       Measurement    // what else the source measured
	launched   *Configuration // where the source itself records it
	id         string         // unit id
	roleKey    string         // canonical
	identity   Identity
	serving    Serving
}

// provenance is the source's `;` list: dump, run, date, concurrency, image.
type provenance struct {
	dump        string
	concurrency int
	measured    string // as written
	run         *int64
	image       *string // without digest
	digest      string
	wip         bool
}

func readRows(in Input) ([]*row, error) {
	var rows []*row
	seen := map[string]int{}
	err := eachLine(in.Name, in.Data, func(n int, line []byte) error {
		r := &row{line: n}
		if err := r.parse(line); err != nil {
			return err
		}
		id := r.column["id"]
		if first, twice := seen[id]; twice {
			return &diag.Refusal{Field: "id", Value: id, Problem: fmt.Sprintf("repeats the row of line %d", first), Accept: "each row id once"}
		}
		seen[id] = n
		rows = append(rows, r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, &diag.Refusal{File: in.Name, Problem: "holds no record", Accept: "one row a line"}
	}
	earliest := firstDates(rows)
	for _, r := range rows {
		if err := r.identify(earliest); err != nil {
			return nil, onLine(in.Name, r.line, err)
		}
	}
	return rows, nil
}

func (r *row) parse(line []byte) error {
	if err := strict.JSON("", line, &r.column); err != nil {
		return err
	}
	for _, c := range columns {
		if _, ok := r.column[c]; !ok {
			return &diag.Refusal{Field: c, Problem: "is missing", Accept: "every column; empty when unknown"}
		}
	}
	if len(r.column) != len(columns) {
		for _, c := range union(r.column, nil) {
			if !slices.Contains(columns, c) {
				return &diag.Refusal{Field: c, Problem: "unknown column", Accept: diag.OneOf(c, columns)}
			}
		}
	}
	if m := r.column["mode"]; m != "agg" && m != "disagg" {
		return &diag.Refusal{Field: "mode", Value: m, Problem: "unknown mode", Accept: "agg or disagg"}
	}
	for _, c := range []string{"id", "backend", "model_path", "system", "precision"} {
		if r.column[c] == "" {
			return &diag.Refusal{Field: c, Problem: "is empty", Accept: "a name"}
		}
	}
	var err error
	if r.ttft, err = r.milliseconds("silicon_ttft_ms"); err != nil {
		return err
	}
	if r.tpot, err = r.milliseconds("silicon_tpot_ms"); err != nil {
		return err
	}
	r.prov, err = parseProvenance(r.column["silicon_data_source"])
	return err
}

func (r *row) milliseconds(column string) (float64, error) {
	s := r.column[column]
	if s == "" {
		return math.NaN(), nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return 0, &diag.Refusal{Field: column, Value: s, Problem: "is not a duration", Accept: "milliseconds above 0, or empty"}
	}
	return v, nil
}

func parseProvenance(s string) (provenance, error) {
	var p provenance
	bad := func(part, problem, accept string) (provenance, error) {
		return p, &diag.Refusal{Field: "silicon_data_source", Value: part, Problem: problem, Accept: accept}
	}
	for i, part := range strings.Split(s, ";") {
		part = strings.TrimSpace(part)
		key, value, named := strings.Cut(part, "=")
		var err error
		switch {
		case i == 0 && (!named || key == "source_file"):
			p.dump = strings.TrimPrefix(part, "source_file=")
		case key == "silicon_concurrency":
			p.concurrency, err = strconv.Atoi(value)
		case key == "workflow_run_id":
			p.run = new(int64)
			*p.run, err = strconv.ParseInt(value, 10, 64)
		case key == "measured":
			p.measured = value
		case key == "wip":
			p.wip, err = strconv.ParseBool(value)
		case key == "image" || !named:
			image, digest, _ := strings.Cut(strings.TrimPrefix(part, "image="), "@sha256:")
			p.image, p.digest = &image, digest
		case key == "model" || key == "config_id": // repeats model_path; names a row of the dump
		default:
			return bad(part, "unknown part", "source_file, model, config_id, silicon_concurrency, measured, workflow_run_id, wip, image")
		}
		if err != nil {
			return bad(part, "does not parse", "a number, or True or False")
		}
	}
	if p.dump == "" {
		return bad(s, "names no dump", "the dump's name first")
	}
	if p.concurrency < 1 {
		return bad(s, "names no concurrency", "silicon_concurrency=N with N at least 1")
	}
	return p, nil
}

// firstDates gives each benchmark run the earliest date among its rows, so the
// attempts of one run share one date (Target Design §10.2).
func firstDates(rows []*row) map[int64]string {
	first := map[int64]string{}
	for _, r := range rows {
		if r.prov.run == nil || r.prov.measured == "" {
			continue
		}
		d := day(r.prov.measured)
		if old, ok := first[*r.prov.run]; !ok || d < old {
			first[*r.prov.run] = d
		}
	}
	return first
}

func day(s string) string { return s[:min(10, len(s))] }

func (r *row) identify(first map[int64]string) error {
	if err := r.readServing(); err != nil {
		return err
	}
	hash, err := canon.Hash(r.serving)
	if err != nil {
		return err
	}
	date := day(r.prov.measured)
	if r.prov.run != nil {
		date = first[*r.prov.run]
	}
	r.identity = Identity{
		RoleKey: RoleKey{Source: sourceName, Model: r.column["model_path"], Hardware: r.column["system"],
			Precision: r.column["precision"], Framework: r.column["backend"], BenchmarkType: "fixed_seq_len", ConfigHash: hash},
		Concurrency:  r.prov.concurrency,
		BenchmarkRun: r.prov.run,
	}
	if date != "" {
		r.identity.MeasuredDate = &date
	}
	if r.roleKey, err = r.identity.RoleKey.Key(); err != nil {
		return err
	}
	r.id, err = r.identity.Hash()
	return err
}

// readServing fills the 17 hashed fields. The source records no offload mode,
// speculation, node count or GPU counts.
func (r *row) readServing() error {
	disagg := r.column["mode"] == "disagg"
	prefill, decode := "", ""
	if disagg {
		prefill, decode = "prefill_", "decode_"
	}
	s := Serving{Image: r.prov.image, Disagg: disagg}
	var prefillDP, decodeDP *int
	for _, f := range []struct {
		column string
		into   **int
	}{
		{"isl", &s.ISL}, {"osl", &s.OSL},
		{prefill + "tp_size", &s.PrefillTP}, {decode + "tp_size", &s.DecodeTP},
		{prefill + "moe_ep_size", &s.PrefillEP}, {decode + "moe_ep_size", &s.DecodeEP},
		{prefill + "attention_dp_size", &prefillDP}, {decode + "attention_dp_size", &decodeDP},
		{"prefill_num_workers", &s.PrefillNumWorkers}, {"decode_num_workers", &s.DecodeNumWorkers},
	} {
		v := r.column[f.column]
		if v == "" {
			continue
		}
		n, err := strconv.Atoi(v)
		if err != nil {
			return &diag.Refusal{Field: f.column, Value: v, Problem: "is not an integer", Accept: "an integer, or empty"}
		}
		*f.into = &n
	}
	s.PrefillDPAttention, s.DecodeDPAttention = several(prefillDP), several(decodeDP)
	r.serving = s
	return nil
}

func several(n *int) *bool {
	if n == nil {
		return nil
	}
	b := *n > 1
	return &b
}
