package oracle

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestCorruptedStartupsDiffer feeds each start-up file with one value changed: the
// check must see it (X5's known-bad input).
func TestCorruptedStartupsDiffer(t *testing.T) {
	files, err := filepath.Glob("../testdata/startup/*")
	if err != nil || len(files) < 3 {
		t.Fatalf("got %v, %v, want the recorded start-up files", files, err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		clean, err := Check(f, bytes.NewReader(data))
		if err != nil || len(clean.Differences) > 0 {
			t.Fatalf("%s: %v, %v, want no difference", f, clean.Differences, err)
		}
		for n := range 4 {
			rep, changed, err := CheckCorrupted(f, bytes.NewReader(data), n)
			if err != nil || len(rep.Differences) == 0 {
				t.Errorf("%s: %s changed: got %v, %v, want a difference", f, changed, rep.Differences, err)
			}
		}
	}
}
