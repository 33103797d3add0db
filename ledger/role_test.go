package ledger

import (
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
)

// Vectors of an independent implementation (Python's hmac and int.from_bytes), chosen
// beside the cut-points: draws 0, 29, 34, 39, 40, 64, 65, 99.
func TestDrawMatchesVectors(t *testing.T) {
	seed := []byte(strings.Repeat("\x07", 32))
	p := Published{SeedSHA256: canon.Sum(seed)}
	for model, want := range map[string]Role{"m91": Fit, "m148": Fit, "m34": Select, "m29": Validate, "m32": Held, "m17": Held, "m120": Anchor, "m3": Anchor} {
		got, err := p.Draw(seed, RoleKey{Source: "inferencex", Model: model, Hardware: "h100_sxm", Precision: "fp8", Framework: "vllm",
			BenchmarkType: "fixed_seq_len", ConfigHash: zeros})
		if err != nil || got != want {
			t.Errorf("%s: got %s (%v), want %s", model, got, err, want)
		}
	}
	if _, err := p.Draw(seed[1:], RoleKey{}); err == nil || !strings.Contains(err.Error(), "is not the one") {
		t.Errorf("another seed: got %v, want a refusal", err)
	}
}

// Shares of the partition, over many keys: a bound misplaced by one is far outside.
func TestPartitionShares(t *testing.T) {
	seed := []byte("any")
	p := Published{SeedSHA256: canon.Sum(seed)}
	counts := map[Role]int{}
	const keys = 20000
	for i := range keys {
		role, err := p.Draw(seed, RoleKey{Model: strings.Repeat("m", i%97) + string(rune('a'+i%26)), ConfigHash: canon.Sum([]byte{byte(i), byte(i >> 8)})})
		if err != nil {
			t.Fatal(err)
		}
		counts[role]++
	}
	for role, share := range map[Role]int{Fit: 30, Select: 5, Validate: 5, Held: 25, Anchor: 35} {
		if got, want := counts[role], keys*share/100; got < want*93/100 || got > want*107/100 {
			t.Errorf("%s: got %d of %d keys, want about %d", role, got, keys, want)
		}
	}
}
