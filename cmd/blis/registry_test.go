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

const operatorTables = "../../registry/fit/testdata/tables"

func registryRun(args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = exit.Run(context.Background(), root(), append([]string{"registry"}, args...), &o, &e)
	return code, o.String(), e.String()
}

func TestRegistryFitWritesWhatItChecks(t *testing.T) {
	dir := t.TempDir()
	if code, _, errs := registryRun("fit", "--tables", operatorTables, "--out", dir); code != 0 {
		t.Fatalf("fit: exit %d: %s", code, errs)
	}
	if code, _, errs := registryRun("fit", "--tables", operatorTables, "--out", dir, "--check"); code != 0 {
		t.Fatalf("check of its own files: exit %d: %s", code, errs)
	}
	p := filepath.Join(dir, "h100_sxm", "collective.yaml")
	data, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	edited := bytes.Replace(data, []byte("launch_us: "), []byte("launch_us: 1"), 1)
	if err := os.WriteFile(p, edited, 0o644); err != nil {
		t.Fatal(err)
	}
	code, _, errs := registryRun("fit", "--tables", operatorTables, "--out", dir, "--check")
	if code != 3 || !strings.Contains(errs, "h100_sxm/collective.yaml:") {
		t.Errorf("check of an edited file: got exit %d, %q, want 3 and the file's name", code, errs)
	}
	other := t.TempDir()
	if code, _, errs := registryRun("fit", "--tables", operatorTables, "--out", other); code != 0 {
		t.Fatalf("fit: exit %d: %s", code, errs)
	}
	code, out, _ := registryRun("diff", other, dir)
	if code != 0 || !strings.Contains(out, "on h100_sxm") || !strings.Contains(out, "launch") {
		t.Errorf("diff: got exit %d, %q, want the edited entry and its launch", code, out)
	}
}

func TestRegistryFitReadsAcceptanceLengths(t *testing.T) {
	dir := t.TempDir()
	lengths := filepath.Join(dir, "lengths.jsonl")
	const docs = `{"_file": "a.yaml", "_comments": ["# temp 0.6"], "qwen3.5-397b-a17b-nvfp4": {"thinking_on": {"1": 1.93}}}` + "\n" + `{"_file": "b.yaml", "_comments": [], "unheard-of": {"thinking_on": {"1": 1.5}}}` + "\n"
	if err := os.WriteFile(lengths, []byte(docs), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := registryRun("fit", "--lengths", lengths, "--out", dir); code != 0 || !strings.Contains(errs, "left out:") || !strings.Contains(errs, "unheard-of") {
		t.Fatalf("got exit %d, %q, want the model that is left out", code, errs)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "profiles.yaml")); err != nil || !bytes.Contains(data, []byte("target: qwen3.5-397b-a17b\n")) {
		t.Errorf("got %q, %v", data, err)
	}
	if code, _, errs := registryRun("fit", "--lengths", lengths, "--out", dir, "--check"); code != 0 {
		t.Errorf("check of its own file: exit %d: %s", code, errs)
	}
	for want, args := range map[string][]string{"cannot be read": {"--lengths", filepath.Join(dir, "none")}, "tables lengths": {"--lengths", lengths, "--tables", dir}} {
		if code, _, errs := registryRun(append([]string{"fit", "--out", dir}, args...)...); code == 0 || !strings.Contains(errs, want) {
			t.Errorf("%v: got exit %d, %q, want %q", args, code, errs, want)
		}
	}
}

func TestRegistryReportPrintsAndDraws(t *testing.T) {
	dir := t.TempDir()
	code, out, errs := registryRun("report", "--tables", operatorTables, "--out", filepath.Join(dir, "r.json"), "--plots", dir)
	if code != 0 || !strings.Contains(out, "all_reduce") {
		t.Fatalf("got exit %d, %q, %q", code, out, errs)
	}
	for _, f := range []string{"r.json", "all-reduce-fit.svg", "all-reduce-error.svg"} {
		if info, err := os.Stat(filepath.Join(dir, f)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
}

func TestRegistryReportWithoutTablesIsThePublishedOne(t *testing.T) {
	p := filepath.Join(t.TempDir(), "r.json")
	code, out, errs := registryRun("report", "--out", p)
	if code != 0 || !strings.Contains(out, "attention.decode") {
		t.Fatalf("got exit %d, %q, %q", code, out, errs)
	}
	got, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../../registry/fit/report.json")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %d bytes, %v, want the %d of the committed report", len(got), err, len(want))
	}
	if code, _, errs := registryRun("report", "--plots", t.TempDir()); code != exit.Usage || !strings.Contains(errs, "give both") {
		t.Errorf("charts without tables: got exit %d, %q, want %d", code, errs, exit.Usage)
	}
}

func TestRegistryDiffNamesTheMissingDirectory(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	code, _, errs := registryRun("diff", "../../registry/data", missing)
	if code != 1 || !strings.Contains(errs, missing+": cannot be opened as a data directory") {
		t.Errorf("got exit %d, %q, want 1 and %s", code, errs, missing)
	}
}

func TestRegistryFitRefusesADirectoryWithoutTables(t *testing.T) {
	code, _, errs := registryRun("fit", "--tables", t.TempDir())
	if code != 1 || !strings.Contains(errs, "holds no operator table") {
		t.Errorf("got exit %d, %q, want 1 and what is missing", code, errs)
	}
}
