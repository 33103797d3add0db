package ledger

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// Unit is one benchmark run of one deployment at one concurrency, with every
// measurement the source holds of it. Its id depends on nothing of ours, so no
// change here can redraw a role.
type Unit struct {
	ID       string `json:"unit_id"`
	Identity        // the ten identifying fields and the source
	// Serving holds the 17 fields Identity.ConfigHash is the hash of. They are
	// the source's own columns: identity only, never a run's configuration.
	Serving        Serving         `json:"serving"`
	Measurements   []Measurement   `json:"measurements"`
	Configurations []Configuration `json:"configurations"`
}

// Identity is the source's own name for a run (Target Design §10.2).
type Identity struct {
	RoleKey
	RecipeFingerprint *string `json:"recipe_fingerprint"`
	Concurrency       int     `json:"concurrency"`
	MeasuredDate      *string `json:"measured_date"` // YYYY-MM-DD
	BenchmarkRun      *int64  `json:"benchmark_run"`
}

// RoleKey is the part of an identity that a role is drawn for, so a sweep and
// its re-measurements share one role (D4).
type RoleKey struct {
	Source        string `json:"source"`
	Model         string `json:"model"`
	Hardware      string `json:"hardware"`
	Precision     string `json:"precision"`
	Framework     string `json:"framework"`
	BenchmarkType string `json:"benchmark_type"`
	ConfigHash    string `json:"config_hash"` // canon.Hash of Serving
}

// Serving is the hashed serving configuration in the source's names. A value
// the source lacks is null.
type Serving struct {
	Image              *string `json:"image"` // without its @sha256: suffix
	ISL                *int    `json:"isl"`   // nominal prompt tokens
	OSL                *int    `json:"osl"`   // nominal output tokens
	OffloadMode        *string `json:"offload_mode"`
	SpecMethod         *string `json:"spec_method"`
	Disagg             bool    `json:"disagg"`
	IsMultinode        *bool   `json:"is_multinode"`
	PrefillTP          *int    `json:"prefill_tp"`
	PrefillEP          *int    `json:"prefill_ep"`
	PrefillDPAttention *bool   `json:"prefill_dp_attention"`
	PrefillNumWorkers  *int    `json:"prefill_num_workers"`
	NumPrefillGPU      *int    `json:"num_prefill_gpu"`
	DecodeTP           *int    `json:"decode_tp"`
	DecodeEP           *int    `json:"decode_ep"`
	DecodeDPAttention  *bool   `json:"decode_dp_attention"`
	DecodeNumWorkers   *int    `json:"decode_num_workers"`
	NumDecodeGPU       *int    `json:"num_decode_gpu"`
}

// Measurement is one set of measured values and every record that reports it.
type Measurement struct {
	TTFTMeanMS float64 `json:"ttft_mean_ms"` // mean over requests, milliseconds
	TPOTMeanMS float64 `json:"tpot_mean_ms"`
	// The rest of their distributions, and the client's counts, where recorded.
	TTFT   *Percentiles `json:"ttft_ms,omitempty"`
	TPOT   *Percentiles `json:"tpot_ms,omitempty"`
	Totals *Totals      `json:"totals,omitempty"`
	// Configuration indexes Unit.Configurations; null when no launch facts exist.
	Configuration *int     `json:"configuration"`
	Records       []Record `json:"records"` // by line
}

// Record is one line of the source, and what ingest did with it.
type Record struct {
	Line        int         `json:"line"` // 1-based line of the rows file
	RowID       string      `json:"row_id"`
	Dump        string      `json:"dump"` // the file the source took it from
	Disposition Disposition `json:"disposition"`
	Rule        string      `json:"rule,omitempty"`    // see Rules; empty when kept
	UnitID      string      `json:"unit_id,omitempty"` // its own identity, when merged under another
	Version     string      `json:"engine_version,omitempty"`
	ImageDigest string      `json:"image_digest,omitempty"`
	WIP         bool        `json:"wip,omitempty"` // the benchmark's authors called it unfinished
}

// Hash returns the unit id of i: the SHA-256 of its canonical JSON.
func (i Identity) Hash() (string, error) { return canon.Hash(i) }

// Key returns the canonical JSON of k, the message a role is drawn from.
func (k RoleKey) Key() (string, error) {
	b, err := canon.JSON(k)
	return string(b), err
}

// RecordedConfiguration returns the one configuration every measurement of u
// ran with. It returns nil when some measurement has no launch facts.
// When two measurements were launched differently, differing names the fields.
func (u *Unit) RecordedConfiguration() (c *Configuration, differing []string) {
	if len(u.Configurations) > 1 {
		return nil, u.Configurations[0].differing(&u.Configurations[1])
	}
	for _, m := range u.Measurements {
		if m.Configuration == nil {
			return nil, nil
		}
	}
	return &u.Configurations[0], nil
}

// Lane names what u's error is averaged with: engine, model, chip and precision.
func (u *Unit) Lane() string {
	return strings.Join([]string{u.Framework, u.Model, u.Hardware, u.Precision}, " ")
}

// InLane holds when each word, in any case, stands in a lane's name; no words hold for all.
func InLane(name, words string) bool {
	name = strings.ToLower(name)
	for w := range strings.FieldsSeq(strings.ToLower(words)) {
		if !strings.Contains(name, w) {
			return false
		}
	}
	return true
}

// WIP reports whether any record of u is marked unfinished by its authors.
func (u *Unit) WIP() bool {
	for r := range u.records() {
		if r.WIP {
			return true
		}
	}
	return false
}

// Version returns the engine version the source recorded, "" when none.
func (u *Unit) Version() string {
	for r := range u.records() {
		if r.Version != "" {
			return r.Version
		}
	}
	return ""
}

// ImageDigest returns the image digest every record of u that has one agrees on,
// "" when none does or they differ.
func (u *Unit) ImageDigest() string {
	digest := ""
	for r := range u.records() {
		switch {
		case r.ImageDigest == "" || r.ImageDigest == digest:
		case digest == "":
			digest = r.ImageDigest
		default:
			return ""
		}
	}
	return digest
}

// check recomputes both hashes and refuses a unit that is not what its id says.
func (u *Unit) check() error {
	config, err := canon.Hash(u.Serving)
	if err != nil {
		return err
	}
	if config != u.ConfigHash {
		return &diag.Refusal{Field: "config_hash", Value: u.ConfigHash, Problem: "is not the hash of serving", Accept: config, Rule: "D4"}
	}
	id, err := u.Identity.Hash()
	if err != nil {
		return err
	}
	if id != u.ID {
		return &diag.Refusal{Field: "unit_id", Value: u.ID, Problem: "is not the hash of the identifying fields", Accept: id, Rule: "D4"}
	}
	if len(u.Measurements) == 0 {
		return &diag.Refusal{Field: "measurements", Problem: "is empty", Accept: "at least one measurement"}
	}
	for i, m := range u.Measurements {
		if err := m.check(len(u.Configurations)); err != nil {
			if r, ok := err.(*diag.Refusal); ok {
				r.Field = fmt.Sprintf("measurements[%d].%s", i, r.Field)
			}
			return err
		}
	}
	return nil
}

func (m *Measurement) check(configurations int) error {
	switch {
	case !(m.TTFTMeanMS > 0):
		return &diag.Refusal{Field: "ttft_mean_ms", Value: fmt.Sprint(m.TTFTMeanMS), Problem: "is not a duration", Accept: "milliseconds above 0"}
	case !(m.TPOTMeanMS > 0):
		return &diag.Refusal{Field: "tpot_mean_ms", Value: fmt.Sprint(m.TPOTMeanMS), Problem: "is not a duration", Accept: "milliseconds above 0"}
	case m.Configuration != nil && (*m.Configuration < 0 || *m.Configuration >= configurations):
		return &diag.Refusal{Field: "configuration", Value: fmt.Sprint(*m.Configuration), Problem: "names no configuration", Accept: fmt.Sprintf("0 to %d, or null", configurations-1)}
	case len(m.Records) == 0:
		return &diag.Refusal{Field: "records", Problem: "is empty", Accept: "the records that report the measurement"}
	}
	return cmp.Or(m.TTFT.check("ttft_ms"), m.TPOT.check("tpot_ms"), m.Totals.check())
}
