package ledger

import "strings"

// Disposition is what ingest did with a record. Every record has exactly one.
type Disposition string

const (
	Kept    Disposition = "kept"     // the first record of a unit
	Joined  Disposition = "joined"   // another measurement of a unit already there
	Merged  Disposition = "merged"   // a measurement already there, told again
	LeftOut Disposition = "left_out" // in no unit
)

// The rules that decide a record's fate (Target Design §10.2).
const (
	ruleAgain    = "another_measurement"
	ruleExact    = "exact_duplicate"
	ruleDigits   = "last_digit_duplicate"
	ruleIdentity = "same_measurement_one_role_key"
	ruleTwoKeys  = "same_measurement_two_role_keys"
	ruleEmpty    = "no_measured_values"
)

// Rule is one reason a record is not kept as a unit of its own.
type Rule struct {
	ID          string
	Disposition Disposition
	Text        string
}

// Rules lists the rules in the order a report shows them.
func Rules() []Rule {
	return []Rule{
		{ruleAgain, Joined, "the identifying fields of a unit with other measured values: the unit holds each, and their spread is the measurement's own noise"},
		{ruleExact, Merged, "the identifying fields and the measured values of an earlier record, digit for digit"},
		{ruleDigits, Merged, "the same, where the values agree to 12 significant digits and differ in the last ones: two dumps of one measurement"},
		{ruleIdentity, Merged, "the measured values of an earlier record under another identity with the same role key: one unit, under the earlier identity"},
		{ruleTwoKeys, LeftOut, "measured values that stand under two role keys: one measurement could draw two roles"},
		{ruleEmpty, LeftOut, "TTFT or TPOT is empty: the record is no measurement"},
	}
}

// Note is something a careless reader of the source would get wrong. It decides
// no record's fate; it says how the unit avoids the error.
type Note struct {
	ID, Text string
	applies  func(r *row, l *launch) bool // l is nil without launch facts
}

// Notes lists the notes in the order a report shows them.
func Notes() []Note {
	return []Note{
		{"means_not_medians", "silicon_ttft_ms and silicon_tpot_ms are means over requests: they become ttft_mean_ms and tpot_mean_ms",
			func(r *row, l *launch) bool { return r.measured() }},
		{"parallel_columns_disagree", "the parallel columns differ from the launch's tensor-parallel-size: they serve identity only, server_args are what ran",
			func(r *row, l *launch) bool { return l != nil && l.ServerArgs != nil && !r.agreesOnTP(l) }},
		{"speculation_unmarked", "the row does not say it ran with speculative decoding: the launch does",
			func(r *row, l *launch) bool { return l != nil && l.Spec == "mtp" }},
		{"speculation_unknown", "neither row nor launch says whether speculative decoding was on: speculation is unknown, never assumed off",
			func(r *row, l *launch) bool { return l == nil || l.Spec == "unknown" }},
		{"model_aliased", "the row names another model than the checkpoint served: checkpoint is the launch's",
			func(r *row, l *launch) bool { return l != nil && l.aliased(r) }},
		{"mxfp4_named_nvfp4", "a gpt-oss row says nvfp4; the checkpoint is MXFP4. The quantisation columns are not taken: the checkpoint states its own",
			func(r *row, l *launch) bool {
				return strings.Contains(r.column["model_path"], "gpt-oss") && r.column["gemm_quant_mode"] == "nvfp4"
			}},
		{"concurrency_is_a_constant", "the launch script reports a constant for the client's concurrency: max_concurrency is not recorded",
			func(r *row, l *launch) bool { return l != nil && l.Config != nil && l.Config.Entry.Conc == nil }},
		{"num_prompts_not_recorded", "the number of requests sent is not known: num_prompts is not recorded",
			func(r *row, l *launch) bool { return l == nil || l.Client == nil || l.Client.NumPrompts == nil }},
		{"launch_not_recorded", "no launch facts, or none that fit the row alone: its configuration is not recorded",
			func(r *row, l *launch) bool { return l == nil || l.Match != "unique" }},
		{"work_in_progress", "the benchmark's authors marked the row unfinished: the record says so and stays",
			func(r *row, l *launch) bool { return r.prov.wip }},
		{"nightly_image", "the image names a commit or a date, not a release",
			func(r *row, l *launch) bool {
				return r.prov.image != nil && strings.Contains(*r.prov.image, ":nightly")
			}},
	}
}

func (r *row) measured() bool { return r.ttft > 0 && r.tpot > 0 }

// agreesOnTP compares the row's column with the launched size, both as text.
func (r *row) agreesOnTP(l *launch) bool {
	v, ok := l.ServerArgs["tensor-parallel-size"]
	return !ok || text(v) == r.column["tp_size"]
}
