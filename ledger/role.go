package ledger

import (
	"crypto/hmac"
	"crypto/sha256"
	"math/big"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// Role says what a unit may be used for. Only fit and anchor members are
// published; which of the others an unlisted unit has, only a holder of the seed
// can say (D7).
type Role string

const (
	Fit      Role = "fit"      // fit a coefficient
	Select   Role = "select"   // choose between candidates
	Validate Role = "validate" // measure a method's typical error
	Held     Role = "held"     // judge an accuracy change at its gate
	Anchor   Role = "anchor"   // report public accuracy
	Unlisted Role = "unlisted" // on neither published list
)

// cuts are the source's partition: a key's draw, 0 to 99, falls to the first role
// whose bound is above it.
var cuts = []struct {
	below int64
	role  Role
}{{30, Fit}, {35, Select}, {40, Validate}, {65, Held}, {100, Anchor}}

// Draw returns the role of a key: HMAC-SHA-256(seed, canonical key) as a
// big-endian integer, mod 100, against the cut-points (Target Design §10.2, D4).
// A seed other than the one p commits to is refused.
func (p *Published) Draw(seed []byte, key RoleKey) (Role, error) {
	if canon.Sum(seed) != p.SeedSHA256 {
		return "", &diag.Refusal{Field: "seed", Problem: "is not the one the published lists were drawn with", Accept: "the seed whose SHA-256 is " + p.SeedSHA256, Rule: "D7"}
	}
	text, err := key.Key()
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, seed)
	mac.Write([]byte(text))
	n := new(big.Int).SetBytes(mac.Sum(nil))
	draw := n.Mod(n, big.NewInt(100)).Int64()
	for _, c := range cuts {
		if draw < c.below {
			return c.role, nil
		}
	}
	return Anchor, nil
}
