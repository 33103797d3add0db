package oracle

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

func traces(t testing.TB) []string {
	files, err := filepath.Glob("../testdata/oracle/*.json*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded traces: %v", err)
	}
	return files
}

func checkFile(t testing.TB, file string) Report {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rep, err := Check(filepath.Base(file), f)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func TestEveryRecordedTraceReplays(t *testing.T) {
	keep.Rule(t, "SGL-1", "SGL-5", "SGL-6", "T-F1", "X5")
	for _, file := range traces(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			rep := checkFile(t, file)
			for i, d := range rep.Differences {
				if i == 3 {
					t.Errorf("... %d differences in all", len(rep.Differences))
					break
				}
				t.Error(d)
			}
		})
	}
}

func TestCorruptedTracesDiffer(t *testing.T) {
	keep.Rule(t, "FID-10")
	for i, file := range traces(t) {
		if i%6 != 0 {
			continue // each trace is corrupted by `blis oracle check --corrupt`; a sample here
		}
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		rep, changed, err := CheckCorrupted(filepath.Base(file), f, (97*i+13)%151)
		f.Close()
		if err != nil || len(rep.Differences) == 0 {
			t.Errorf("%s with %s changed: got %d differences, %v; want some", file, changed, len(rep.Differences), err)
		}
	}
}
