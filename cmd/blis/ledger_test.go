package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
)

const excerpt = "../../ledger/testdata/excerpt/"

func TestLedgerCommand(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ledger")
	foreign := t.TempDir()
	truncated := filepath.Join(foreign, "rows.jsonl")
	if err := os.WriteFile(truncated, []byte(`{"id":"a"`), 0o644); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty.jsonl")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	files := "ingest --rows " + excerpt + "rows.jsonl --launch " + excerpt + "launches.jsonl --out "
	for _, c := range []struct {
		args string
		code int
		want string // in standard output, or in standard error when the code is not 0
	}{
		{files + dir, exit.Done, "23 records: 13 kept, 2 joined, 5 merged, 3 left out"},
		{files + dir, exit.Done, "23 records"}, // over itself
		{files + foreign, exit.Refused, "rows.jsonl: is no part of a ledger"},
		{files + truncated + "/x", exit.Refused, "cannot be"},
		{files + dir + " --source other", exit.Usage, "--source: other: unknown source"},
		{"ingest --rows x", exit.Usage, "required flag(s)"},
		{"ingest --rows " + truncated + " --launch " + truncated + " --out " + dir, exit.Refused, truncated + ":1: the last line is not ended"},
		{"ingest --rows /none --launch /none --out " + dir, exit.Refused, "/none: cannot be read"},
		{"ingest --rows " + empty + " --launch " + empty + " --out " + dir, exit.Refused, empty + ": holds no record"},
		{"list --role anchor --ledger " + dir, exit.Done, "000ab33f026157663e0ee2a133f4bf42cbe169962547e0de3f567eb33abfe8df  anchor"},
		{"list --role fit --json --ledger " + dir, exit.Done, `{"benchmark_run":`},
		{"list --role held", exit.Usage, "--role: held: unknown role"},
		{"show 000ab33f --ledger " + dir, exit.Done, `"checkpoint": "moonshotai/Kimi-K2.5"`},
		{"show f8acff66 --ledger " + dir, exit.Refused, "names a record that is left out: same_measurement_two_role_keys"},
		{"show 0 --ledger " + dir, exit.Refused, "begins "},
		{"scenario 000ab33f", exit.Done, "max-num-seqs: 64"},
		{"scenario 005415c4", exit.Refused, "engine_unsupported: no port of trtllm"},
		{"show", exit.Usage, "accepts 1 arg(s)"},
		{"report --ledger " + dir, exit.Done, "unlisted: 0 units"},
		{"report --json", exit.Done, `"left_out": 523`},
		{"report --ledger " + foreign + "/none", exit.Refused, "--ledger: " + foreign + "/none: cannot be opened: no such file or directory"},
		{"report --ledger " + truncated, exit.Refused, "cannot be opened: not a directory"},
		{"report --ledger " + foreign, exit.Refused, "published/fit.txt: cannot be read"},
	} {
		var out, errs bytes.Buffer
		code := exit.Run(context.Background(), ledgerCmd(), strings.Fields(c.args), &out, &errs)
		text := out.String()
		if code != exit.Done {
			text = errs.String()
		}
		if code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("ledger %s: got exit %d, %q; want exit %d with %q", c.args, code, text[:min(len(text), 400)], c.code, c.want)
		}
	}
}
