package form

// Chip is what a form needs of a catalog chip. Dense datasheet peaks; a zero
// peak means the chip has no such unit and the next wider type computes instead.
type Chip struct {
	Name  string
	BF16  float64 // FLOP/s
	FP8   float64 // FLOP/s
	FP4   float64 // FLOP/s
	HBM   float64 // bytes/s
	Link  float64 // scale-up bytes/s per chip, one way
	World int     // chips joined by the scale-up links
	NIC   float64 // scale-out bytes/s per chip, one way
}

// Compute is the arithmetic a kernel runs on.
type Compute uint8 // ordered from wide to narrow

const (
	BF16 Compute = iota
	FP8
	FP4
)

// Peak is the dense rate of the narrowest unit the chip has that is at least as
// wide as want.
func (c *Chip) Peak(want Compute) float64 {
	switch {
	case want == FP4 && c.FP4 > 0:
		return c.FP4
	case want >= FP8 && c.FP8 > 0:
		return c.FP8
	}
	return c.BF16
}
