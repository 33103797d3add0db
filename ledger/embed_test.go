package ledger

import (
	"bytes"
	"io/fs"
	"slices"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// The embedded ledger is what ingest writes, byte for byte, and accounts for
// every id of the published lists and for nothing else.
func TestEmbeddedLedger(t *testing.T) {
	keep.Rule(t, "D3", "SUB-8", "T-D3", "X7", "X8")
	l, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	files, err := l.Files()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := fs.ReadFile(EmbeddedFS(), name)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: not the bytes Write gives (%v)", name, err)
		}
	}
	ids := map[string]bool{}
	for i := range l.Units {
		ids[l.Units[i].ID] = true
		for r := range l.Units[i].records() {
			if r.UnitID != "" {
				ids[r.UnitID] = true
			}
		}
	}
	for _, o := range l.Report.LeftOut {
		ids[o.UnitID] = true
	}
	listed := slices.Concat(l.Published.Fit, l.Published.Anchor)
	for _, id := range listed {
		if !ids[id] {
			t.Errorf("listed id %s has no record", id)
		}
	}
	if got, want := len(ids), len(listed); got != want {
		t.Errorf("distinct ids: got %d, want the %d listed", got, want)
	}
	if got := l.Report.Unlisted; got != 0 {
		t.Errorf("unlisted: got %d, want 0", got)
	}
	if l.Report.Rows.Upstream == "" || l.Report.Launches.Upstream == "" {
		t.Error("a source file is not pinned to its revision")
	}
}

func BenchmarkOpenEmbedded(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Open(EmbeddedFS()); err != nil {
			b.Fatal(err)
		}
	}
}
