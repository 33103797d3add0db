package ledger

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

var update = flag.Bool("update", false, "rewrite testdata/excerpt/golden")

// excerpt reads the committed excerpt of the source: one case of each trap.
func excerpt(t testing.TB) (rows, launches Input) {
	t.Helper()
	read := func(name string) Input {
		data, err := os.ReadFile(filepath.Join("testdata", "excerpt", name))
		if err != nil {
			t.Fatal(err)
		}
		return Input{Name: name, Data: data}
	}
	return read("rows.jsonl"), read("launches.jsonl")
}

func ingested(t testing.TB, rows, launches Input) *Ledger {
	t.Helper()
	published, err := OpenPublished(EmbeddedFS())
	if err != nil {
		t.Fatal(err)
	}
	l, err := Ingest(rows, launches, published)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func ingestedExcerpt(t testing.TB) *Ledger {
	t.Helper()
	rows, launches := excerpt(t)
	return ingested(t, rows, launches)
}

// recordOf finds the record of a source line and its unit.
func recordOf(t *testing.T, l *Ledger, rowID string) (*Unit, *Record) {
	t.Helper()
	for i := range l.Units {
		for r := range l.Units[i].records() {
			if r.RowID == rowID {
				return &l.Units[i], r
			}
		}
	}
	t.Fatalf("row %s is on no unit", rowID)
	return nil, nil
}

func TestIngestOfTheExcerptIsGolden(t *testing.T) {
	l := ingestedExcerpt(t)
	files, err := l.Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{unitsFile, reportFile} {
		path := filepath.Join("testdata", "excerpt", "golden", name)
		if *update {
			if err := os.WriteFile(path, files[name], 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(files[name], want) {
			t.Errorf("%s differs from %s; run with -update and read the diff", name, path)
		}
	}
}

// Each trap of the source, by the record of the excerpt that shows it.
func TestDispositionOfEachTrap(t *testing.T) {
	l := ingestedExcerpt(t)
	for _, c := range []struct {
		row, rule string
		want      Disposition
	}{
		{"2026_03_25_kimi_k2_5_b200_sxm_vllm_int4_agg_1024x8192_c64_tp8_0_ep1_0_331", "", Kept},
		{"2026_04_06_kimi_k2_5_b200_sxm_vllm_int4_agg_1024x8192_c64_tp8_ep1_1853", ruleExact, Merged},
		{"2026_04_06_gpt_oss_120b_h200_sxm_vllm_fp4_agg_8192x1024_c32_tp2_ep1_345", ruleDigits, Merged},
		{"2026_04_06_minimax_m2_5_b200_sxm_vllm_fp8_agg_1024x1024_c64_tp4_ep4_1392", ruleIdentity, Merged},
		{"2026_04_06_minimax_m2_5_b200_sxm_vllm_fp8_agg_8192x1024_c64_tp2_ep1_1321", ruleAgain, Joined},
	} {
		_, r := recordOf(t, l, c.row)
		if r.Disposition != c.want || r.Rule != c.rule {
			t.Errorf("%s: got %s by %q, want %s by %q", c.row, r.Disposition, r.Rule, c.want, c.rule)
		}
	}
	if len(l.Report.LeftOut) != 3 {
		t.Fatalf("left out: got %d, want the three records of one measurement under two role keys", len(l.Report.LeftOut))
	}
	for _, o := range l.Report.LeftOut {
		if o.Rule != ruleTwoKeys || len(o.SameAs) != 2 {
			t.Errorf("got %+v, want rule %s with two other lines", o, ruleTwoKeys)
		}
	}
}

// Every note fires on at least one record of the excerpt and, but for the note on
// means, not on all.
func TestEachNoteAppliesToSomeRecord(t *testing.T) {
	rep := ingestedExcerpt(t).Report
	for _, n := range rep.Notes {
		if n.Records == 0 || (n.Records == rep.Records.Read && n.Note != "means_not_medians") {
			t.Errorf("%s: got %d of %d records", n.Note, n.Records, rep.Records.Read)
		}
	}
}

func TestRecordsAddUp(t *testing.T) {
	keep.Rule(t, "COV-7")
	rep := ingestedExcerpt(t).Report
	r := rep.Records
	if got, want := r.Kept+r.Joined+r.Merged+r.LeftOut, rep.Rows.Records; got != want {
		t.Errorf("records: got %d, want %d", got, want)
	}
	byRule := 0
	for _, c := range rep.Rules {
		byRule += c.Records
	}
	if got, want := r.Kept+byRule, r.Read; got != want {
		t.Errorf("kept and ruled: got %d, want %d", got, want)
	}
	f := rep.LaunchFacts
	if got, want := f.OnUnits+f.OnLeftOut+f.WithoutRow, f.Read; got != want {
		t.Errorf("launch facts: got %d, want %d", got, want)
	}
}

func TestConfigurationIsTheLaunchNeverTheColumns(t *testing.T) {
	l := ingestedExcerpt(t)
	u, _ := recordOf(t, l, "qwen3_5_b200_sglang_fp8_agg_8192x1024_c16_cfg615")
	c, _ := u.RecordedConfiguration()
	if got, want := fmt.Sprintf("%v %d", c.ServerArgs["tensor-parallel-size"], *u.Serving.PrefillTP), "4 16"; got != want {
		t.Errorf("launched and column tp: got %s, want %s", got, want)
	}
	u, _ = recordOf(t, l, "2026_04_06_llama_3_1_70b_b200_sxm_vllm_fp8_agg_1024x1024_c8_tp4_ep1_259")
	c, _ = u.RecordedConfiguration()
	if got, want := *c.Checkpoint, "nvidia/Llama-3.3-70B-Instruct-FP8"; got != want || u.Model != "meta-llama/Llama-3.1-70B" {
		t.Errorf("checkpoint: got %s under %s, want %s", got, u.Model, want)
	}
	u, _ = recordOf(t, l, "2026_03_25_gpt_oss_120b_h200_sxm_vllm_fp4_agg_8192x1024_c32_tp2_0_ep1_0_189")
	line, err := canon.JSON(u)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(line, []byte("nvfp4")) {
		t.Error("a gpt-oss unit carries the column's nvfp4")
	}
}

func TestConcurrencyThatIsAConstantIsNotRecorded(t *testing.T) {
	u, _ := recordOf(t, ingestedExcerpt(t), "2026_04_06_gpt_oss_120b_h100_sxm_vllm_fp4_agg_8192x1024_c512_tp2_ep1_1129")
	c, _ := u.RecordedConfiguration()
	if c.Client.MaxConcurrency != nil || c.Client.NumPrompts != nil || u.Concurrency != 512 {
		t.Errorf("got concurrency %v, prompts %v, identity %d; want null, null, 512", c.Client.MaxConcurrency, c.Client.NumPrompts, u.Concurrency)
	}
}

// One identity holds a run with and one without speculation: its measurements
// were launched differently, and the unit says in what.
func TestUnmarkedSpeculationIsAConflict(t *testing.T) {
	u, _ := recordOf(t, ingestedExcerpt(t), "2026_03_25_deepseek_r1_b200_sxm_sglang_fp8_agg_1024x1024_c8_tp8_0_ep1_0_249")
	c, differing := u.RecordedConfiguration()
	if c != nil || !slices.Contains(differing, "speculation") || !slices.Contains(differing, "server_args.speculative-algorithm") {
		t.Errorf("got %v differing in %v, want no configuration and speculation among them", c, differing)
	}
}

func TestSpreadIsKeptWithItsWIPMark(t *testing.T) {
	u, r := recordOf(t, ingestedExcerpt(t), "2026_03_25_minimax_m2_5_b200_sxm_vllm_fp8_agg_8192x1024_c64_tp2_0_ep1_0_62")
	if len(u.Measurements) != 2 || !r.WIP || !u.WIP() {
		t.Errorf("got %d measurements, wip %v; want 2, true", len(u.Measurements), r.WIP)
	}
	if u.Measurements[0].TPOTMeanMS == u.Measurements[1].TPOTMeanMS {
		t.Error("two measurements with one value")
	}
}

func TestIdentityIsTheSourcesOwn(t *testing.T) {
	keep.Rule(t, "D4", "T-S1")
	l := ingestedExcerpt(t)
	for i := range l.Units {
		if l.Role(&l.Units[i]) == Unlisted {
			t.Errorf("%s is on no published list", l.Units[i].ID)
		}
	}
}

func TestRowsOfOtherRolesAreUnlisted(t *testing.T) {
	keep.Rule(t, "D4")
	rows, launches := excerpt(t)
	rows.Data = bytes.ReplaceAll(rows.Data, []byte("_sxm"), []byte("_pcie"))
	l := ingested(t, rows, launches)
	dir := filepath.Join(t.TempDir(), "ledger")
	if err := l.Write(dir); err != nil {
		t.Fatal(err)
	}
	again, err := Open(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := again.Report.Unlisted, len(again.Units)-1; got != want { // the gb200 unit keeps its name
		t.Errorf("unlisted: got %d, want %d", got, want)
	}
}

// Runs of one benchmark run share the earliest date, so its attempts are one unit.
func TestAttemptsOfOneRunShareADate(t *testing.T) {
	base := firstRow(t)
	base["silicon_data_source"] = "d; silicon_concurrency=4; measured=2026-01-02T00:00:00Z; workflow_run_id=7"
	later := maps.Clone(base)
	later["id"], later["silicon_ttft_ms"] = "later", "1.5"
	later["silicon_data_source"] = strings.Replace(base["silicon_data_source"], "01-02", "01-03", 1)
	l := ingested(t, encode(t, later, base), Input{})
	if len(l.Units) != 1 || *l.Units[0].MeasuredDate != "2026-01-02" || len(l.Units[0].Measurements) != 2 {
		t.Errorf("got %d units, first %+v; want one of 2026-01-02 with two measurements", len(l.Units), l.Units[0].Identity)
	}
}

func TestRecordWithoutValuesIsLeftOut(t *testing.T) {
	r := firstRow(t)
	r["silicon_tpot_ms"] = ""
	l := ingested(t, encode(t, r), Input{})
	if len(l.Units) != 0 || len(l.Report.LeftOut) != 1 || l.Report.LeftOut[0].Rule != ruleEmpty {
		t.Errorf("got %d units, left out %+v; want none, one by %s", len(l.Units), l.Report.LeftOut, ruleEmpty)
	}
}

func TestImageDigestIsNoPartOfTheIdentity(t *testing.T) {
	r := firstRow(t)
	r["silicon_data_source"] = "d; silicon_concurrency=4; measured=2026-01-02; image=a/b:c"
	plain := ingested(t, encode(t, r), Input{})
	r["silicon_data_source"] += "@sha256:00ff"
	pinned := ingested(t, encode(t, r), Input{})
	if plain.Units[0].ID != pinned.Units[0].ID || pinned.Units[0].Measurements[0].Records[0].ImageDigest != "00ff" {
		t.Errorf("got ids %s and %s, digest %+v", plain.Units[0].ID, pinned.Units[0].ID, pinned.Units[0].Measurements[0].Records[0])
	}
}
