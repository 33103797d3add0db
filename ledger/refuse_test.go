package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// firstRow is one valid row to break.
func firstRow(t testing.TB) map[string]string {
	t.Helper()
	rows, _ := excerpt(t)
	line, _, _ := bytes.Cut(rows.Data, []byte("\n"))
	var r map[string]string
	if err := json.Unmarshal(line, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func encode(t testing.TB, rows ...map[string]string) Input {
	t.Helper()
	var b bytes.Buffer
	for _, r := range rows {
		if err := json.NewEncoder(&b).Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	return Input{Name: "rows.jsonl", Data: b.Bytes()}
}

func TestRowRefusals(t *testing.T) {
	keep.Rule(t, "T-S1")
	for _, c := range []struct{ name, column, value, want, accepted string }{
		{"not a number", "silicon_ttft_ms", "NaN", "rows.jsonl:1: silicon_ttft_ms: NaN: is not a duration", "0.1"},
		{"zero", "silicon_tpot_ms", "0", "rows.jsonl:1: silicon_tpot_ms: 0: is not a duration", "1e-9"},
		{"mode", "mode", "AGG", "rows.jsonl:1: mode: AGG: unknown mode", "agg"},
		{"fraction", "isl", "1024.0", "rows.jsonl:1: isl: 1024.0: is not an integer", "1024"},
		{"empty model", "model_path", "", "rows.jsonl:1: model_path: is empty", "a"},
		{"no concurrency", "silicon_data_source", "d; measured=2026", "names no concurrency", "d; silicon_concurrency=1"},
		{"unknown part", "silicon_data_source", "d; silicon_concurrency=1; x=2", "x=2: unknown part", "d; silicon_concurrency=1; wip=True"},
		{"bad run id", "silicon_data_source", "d; silicon_concurrency=1; workflow_run_id=a", "workflow_run_id=a: does not parse", "d; silicon_concurrency=1; workflow_run_id=1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := firstRow(t)
			r[c.column] = c.value
			_, err := Ingest(encode(t, r), Input{}, Published{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			r[c.column] = c.accepted
			if _, err := Ingest(encode(t, r), Input{}, Published{}); err != nil {
				t.Errorf("closest accepted value %q: got %v", c.accepted, err)
			}
		})
	}
}

func TestFileRefusals(t *testing.T) {
	keep.Rule(t, "SUB-12")
	row := firstRow(t)
	one := string(encode(t, row).Data)
	missing := maps.Clone(row)
	delete(missing, "osl")
	extra := maps.Clone(row)
	extra["oslo"] = ""
	facts := `{"row_id":"` + row["id"] + `","match":"none","spec":"unknown"}` + "\n"
	for _, c := range []struct{ name, rows, launches, want string }{
		{"no row", "", "", "rows.jsonl: holds no record"},
		{"truncated", one[:len(one)-1], "", "rows.jsonl:1: the last line is not ended"},
		{"cut inside", one[:40] + "\n", "", "rows.jsonl:1:35: ends too early"},
		{"twice", one + one, "", "rows.jsonl:2: id: " + row["id"] + ": repeats the row of line 1"},
		{"missing column", string(encode(t, missing).Data), "", "rows.jsonl:1: osl: is missing"},
		{"unknown column", string(encode(t, extra).Data), "", "rows.jsonl:1: oslo: unknown column"},
		{"empty line", one + "\n" + one, "", "rows.jsonl:2: is empty"},
		{"facts twice", one, facts + facts, "launch.jsonl:2: row_id: "},
		{"unknown key", one, strings.Replace(facts, "spec", "Spec2", 1), "Spec2: unknown key"},
		{"unknown match", one, strings.Replace(facts, "none", "some", 1), "launch.jsonl:1: match: some: unknown match"},
		{"match without facts", one, strings.Replace(facts, "none", "unique", 1), "a matched launch lacks one of"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Ingest(Input{"rows.jsonl", []byte(c.rows)}, Input{"launch.jsonl", []byte(c.launches)}, Published{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	if _, err := Ingest(Input{"rows.jsonl", []byte(one)}, Input{"launch.jsonl", []byte(facts)}, Published{}); err != nil {
		t.Errorf("the unbroken pair: got %v", err)
	}
}

func TestLaunchThatContradictsItsRowIsRefused(t *testing.T) {
	rows, launches := excerpt(t)
	for _, c := range []struct{ old, new, want string }{
		{`"input_len": 1024`, `"input_len": 1025`, "client.input_len: 1025: the facts of"},
		{`"max_concurrency": 64,`, `"max_concurrency": 65,`, "client.max_concurrency"},
		{`"image": "vllm/vllm-openai:v0.15.1", "server_args"`, `"image": "vllm/vllm-openai:v0.15.2", "server_args"`, "image: vllm/vllm-openai:v0.15.2"},
	} {
		broken := launches
		broken.Data = bytes.Replace(launches.Data, []byte(c.old), []byte(c.new), 1)
		_, err := Ingest(rows, broken, Published{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.new, err, c.want)
		}
	}
}

// ledgerFS is a valid ledger directory to break.
func ledgerFS(t testing.TB) fstest.MapFS {
	t.Helper()
	files, err := ingestedExcerpt(t).Files()
	if err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{}
	for name, data := range files {
		fsys[name] = &fstest.MapFile{Data: data}
	}
	return fsys
}

func TestOpenRefusals(t *testing.T) {
	keep.Rule(t, "D2", "D4", "SUB-2", "T-D2", "X8")
	if _, err := Open(ledgerFS(t)); err != nil {
		t.Fatalf("the unbroken ledger: %v", err)
	}
	for _, c := range []struct{ name, file, old, new, want string }{
		{"wrong unit id", unitsFile, `"unit_id":"0`, `"unit_id":"1`, "unit_id: 1"},
		{"edited identity", unitsFile, `"concurrency":64`, `"concurrency":65`, "is not the hash of the identifying fields"},
		{"edited serving", unitsFile, `"isl":1024`, `"isl":1025`, "config_hash: "},
		{"edited value", unitsFile, `"tpot_mean_ms":`, `"tpot_mean_ms":1`, "report.json: units_sha256: does not follow"},
		{"negative value", unitsFile, `"tpot_mean_ms":`, `"tpot_mean_ms":-`, "units.jsonl:1: measurements[0].tpot_mean_ms: -"},
		{"repeated key", unitsFile, `{"benchmark_run":null,`, `{"benchmark_run":null,"benchmark_run":null,`, "repeats a key"},
		{"unknown key", unitsFile, `"source":`, `"sauce":1,"source":`, "sauce: unknown key"},
		{"other case", unitsFile, `"framework":`, `"Framework":`, "is not in canonical form"},
		{"spaces", unitsFile, `"framework":`, `"framework": `, "is not in canonical form"},
		{"missing file", seedFile, "", "", "published/seed.sha256: cannot be read"},
		{"id on both lists", anchorFile, "", "FIT", "is on the fit list too"},
		{"list out of order", fitFile, "\n", "\n00\n", "is not a lower-case SHA-256"},
		{"edited count", reportFile, `"kept": `, `"kept": 1`, "report.json: records: does not follow"},
		{"rows vanished", reportFile, "\"records\": 23,\n    \"sha256\": \"ca", "\"records\": 24,\n    \"sha256\": \"ca", "records.read: is not the number of rows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := ledgerFS(t)
			switch {
			case c.new == "FIT":
				fsys[c.file] = fsys[fitFile]
			case c.old == "":
				delete(fsys, c.file)
			default:
				before := fsys[c.file].Data
				after := bytes.Replace(before, []byte(c.old), []byte(c.new), 1)
				if bytes.Equal(before, after) {
					t.Fatalf("%q is not in %s", c.old, c.file)
				}
				fsys[c.file] = &fstest.MapFile{Data: after}
			}
			_, err := Open(fsys)
			r, ok := errors.AsType[*diag.Refusal](err)
			if !ok || !strings.Contains(r.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if ok && r.File == "" {
				t.Errorf("%v names no file", err)
			}
		})
	}
}

func TestWriteRefusesAForeignDirectory(t *testing.T) {
	l := ingestedExcerpt(t)
	dir := t.TempDir()
	if err := l.Write(dir); err != nil {
		t.Fatalf("an empty directory: %v", err)
	}
	if err := l.Write(dir); err != nil {
		t.Fatalf("over itself: %v", err)
	}
	if err := os.WriteFile(dir+"/mine.txt", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := l.Write(dir); err == nil || !strings.Contains(err.Error(), "mine.txt: is no part of a ledger") {
		t.Errorf("got %v, want a refusal of mine.txt", err)
	}
	if _, err := os.Stat(dir + "/mine.txt"); err != nil {
		t.Errorf("the foreign file: %v", err)
	}
}
