package ledger

import (
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// Vectors of an independent implementation (Python's hmac and int.from_bytes), chosen
// beside the cut-points: draws 0, 29, 34, 39, 40, 64, 65, 99.
func TestDrawMatchesVectors(t *testing.T) {
	keep.Rule(t, "D4", "T-D1")
	seed := []byte(strings.Repeat("\x07", 32))
	roles, err := (&Ledger{Published: Published{SeedSHA256: canon.Sum(seed)}}).Roles(seed)
	if err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]Role{"m91": Fit, "m148": Fit, "m34": Select, "m29": Validate, "m32": Held, "m17": Held, "m120": Anchor, "m3": Anchor} {
		key := RoleKey{Source: "inferencex", Model: model, Hardware: "h100_sxm", Precision: "fp8", Framework: "vllm",
			BenchmarkType: "fixed_seq_len", ConfigHash: zeros}
		got, blind, err := roles.Of(&Unit{Identity: Identity{RoleKey: key}})
		if err != nil || got != want || !blind {
			t.Errorf("%s: got %s, blind %v (%v), want %s", model, got, blind, err, want)
		}
	}
	if _, err := (&Ledger{}).Roles(seed); err == nil || !strings.Contains(err.Error(), "is not the one") {
		t.Errorf("another seed: got %v, want a refusal", err)
	}
}

// Shares of the partition, over many keys: a bound misplaced by one is far outside.
func TestPartitionShares(t *testing.T) {
	keep.Rule(t, "D4")
	counts := map[Role]int{}
	const keys = 20000
	for i := range keys {
		n, err := draw([]byte("any"), RoleKey{Model: strings.Repeat("m", i%97) + string(rune('a'+i%26)), ConfigHash: canon.Sum([]byte{byte(i), byte(i >> 8)})})
		if err != nil {
			t.Fatal(err)
		}
		counts[partitionOne.Cuts.role(n, "")]++
	}
	for role, share := range map[Role]int{Fit: 30, Select: 5, Validate: 5, Held: 25, Anchor: 35} {
		if got, want := counts[role], keys*share/100; got < want*93/100 || got > want*107/100 {
			t.Errorf("%s: got %d of %d keys, want about %d", role, got, keys, want)
		}
	}
}

// D7: a seed is 256 bits in hex; a refusal never shows the text.
func TestReadSeed(t *testing.T) {
	keep.Rule(t, "D7")
	if s, err := ReadSeed(zeros); err != nil || len(s) != 32 {
		t.Errorf("got %d bytes, %v, want 32", len(s), err)
	}
	for _, text := range []string{"", zeros[1:], zeros + "00", zeros + "\n", "g" + zeros[1:], "secret"} {
		if _, err := ReadSeed(text); err == nil || text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%q: got %v, want a refusal that does not show it", text, err)
		}
	}
}

func FuzzReadSeed(f *testing.F) {
	f.Add(zeros)
	f.Fuzz(func(t *testing.T, s string) {
		if seed, err := ReadSeed(s); (err == nil) != (len(seed) == 32) {
			t.Errorf("got %d bytes, %v", len(seed), err)
		}
	})
}
