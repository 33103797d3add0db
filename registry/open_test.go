package registry

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// A registry that is only listed decodes a chip's files when the chip, or one it borrows from, is
// asked for; what it would refuse is refused then.
func TestAChipIsReadWhenAskedFor(t *testing.T) {
	const scalar = "schema: blis.registry/v1\nset: host\n%: x\nentries:\n  - {primitive: host.step, chip: CHIP, boundary: host, method: assumed, rule: r, unit: s, value: 1}\n"
	set := func(chip, extra string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(strings.NewReplacer("%: x\n", extra, "CHIP", chip).Replace(scalar))}
	}
	files := fstest.MapFS{
		"sound/host.yaml":    set("sound", ""),
		"broken/host.yaml":   set("broken", "sett: x\n"),
		"borrower/host.yaml": set("borrower", "transfers: [{from: broken, rule: r}]\n"),
	}
	r, err := list("", files)
	if err != nil {
		t.Fatal(err)
	}
	for chip, refused := range map[string]bool{"sound": false, "broken": true, "borrower": true} {
		_, err := r.Lookup(Key{Primitive: HostStep, Chip: chip, Boundary: Host})
		if got, ok := errors.AsType[*diag.Refusal](err); ok != refused || ok && got.File != "broken/host.yaml" {
			t.Errorf("%s: got %v, want refused %v", chip, err, refused)
		}
	}
	if _, err := r.Entries(); err == nil {
		t.Error("every entry was listed, one of them unread")
	}
	if _, err := Open(files); err == nil {
		t.Error("opened, with a file it would refuse")
	}
	delete(files, "broken/host.yaml")
	if r, err = Open(files); err != nil || len(r.Chips()) != 2 {
		t.Errorf("got %v, %v, want two chips", r, err)
	}
}

func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		if _, err := Open(EmbeddedFS()); err != nil {
			b.Fatal(err)
		}
	}
}
