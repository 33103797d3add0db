package diag

import (
	"fmt"
	"testing"
)

func TestRefusalText(t *testing.T) {
	r := &Refusal{Line: 3, Col: 7, Field: "engine.args.max-num-seqs", Value: "-1", Problem: "is not positive", Accept: "an integer >= 1", Rule: "SIM-9"}
	In("scenario.yaml", fmt.Errorf("run: %w", r)) // found through a wrap
	if got, want := r.Error(), "scenario.yaml:3:7: engine.args.max-num-seqs: -1: is not positive"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := fmt.Sprint(r.Hints()), "[accepted: an integer >= 1 rule: SIM-9]"; got != want {
		t.Errorf("hints: got %s, want %s", got, want)
	}
}

func TestInKeepsTheFirstFile(t *testing.T) {
	r := &Refusal{File: "inner.yaml", Problem: "x"}
	if In("outer.yaml", r); r.File != "inner.yaml" {
		t.Errorf("got %q, want the file the refusal already named", r.File)
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{"max-num-seq", "max-num-seqs"},
		{"max_num_seqs", "max-num-seqs"},
		{"zebra", ""},
	} {
		for _, set := range [][]string{{"max-num-seqs", "block-size"}, {"block-size", "max-num-seqs"}} {
			if got := Nearest(c.got, set); got != c.want {
				t.Errorf("Nearest(%q, %v): got %q, want %q", c.got, set, got, c.want)
			}
		}
	}
}
