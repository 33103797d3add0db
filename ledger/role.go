package ledger

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
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

// ReadSeed reads a seed written as 64 hex digits. Its refusals never show the text.
func ReadSeed(text string) ([]byte, error) {
	seed, err := hex.DecodeString(text)
	if err != nil || len(seed) != 32 {
		return nil, &diag.Refusal{Field: "seed", Problem: "is not 256 bits in hex", Accept: "64 digits of 0-9a-f, without a line end", Rule: "D7"}
	}
	return seed, nil
}

// Roles draws the roles of a ledger's units; it can be made only with the seed.
type Roles struct {
	ledger *Ledger
	seed   []byte
	keys   map[RoleKey]RoleKey // to the key a role was first drawn for
	sides  map[string]Role     // legacy side by unit id
}

// Roles refuses a seed other than the one the published lists commit to.
func (l *Ledger) Roles(seed []byte) (*Roles, error) {
	if canon.Sum(seed) != l.Published.SeedSHA256 {
		return nil, &diag.Refusal{Field: "seed", Problem: "is not the one the published lists were drawn with", Accept: "the seed whose SHA-256 is " + l.Published.SeedSHA256, Rule: "D7"}
	}
	r := &Roles{ledger: l, seed: seed, keys: map[RoleKey]RoleKey{}, sides: map[string]Role{}}
	for _, a := range l.Aliases {
		r.keys[a.NewKey] = a.OldKey
	}
	for _, u := range l.Legacy {
		r.sides[u.UnitID] = u.Side
	}
	return r, nil
}

// Of returns the role of u: HMAC-SHA-256(seed, canonical role key) as a big-endian
// integer, mod 100, against the cut-points (Target Design §10.2, D4). An aliased
// unit is drawn by the key it first had. blind is false for a unit on a legacy
// side, whose role anyone can work out.
func (r *Roles) Of(u *Unit) (role Role, blind bool, err error) {
	key := u.RoleKey
	for range r.ledger.Aliases { // each alias is passed at most once
		old, ok := r.keys[key]
		if !ok {
			break
		}
		key = old
	}
	draw, err := draw(r.seed, key)
	side := r.sides[u.ID]
	return r.ledger.partition().Cuts.role(draw, side), side == "", err
}

func draw(seed []byte, key RoleKey) (int64, error) {
	text, err := key.Key()
	if err != nil {
		return 0, err
	}
	mac := hmac.New(sha256.New, seed)
	mac.Write([]byte(text))
	n := new(big.Int).SetBytes(mac.Sum(nil))
	return n.Mod(n, big.NewInt(100)).Int64(), nil
}
