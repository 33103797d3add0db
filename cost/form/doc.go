// Package form holds the operator forms of the cost model: for each primitive
// family, the time the hardware would need if nothing were lost (the ideal
// time, from FLOPs, bytes and link bytes over the chip's dense peaks) and the
// place where a fitted utilisation is read off (the coordinates).
//
//	seconds = max(peak time, (launch + ideal) / utilisation(coordinates))
//
// In: a chip's datasheet numbers, a fitted Curve, a layer's shape. Out: a
// compiled form whose Seconds takes the few numbers that change from step to
// step, allocates nothing and calls no platform-varying function. Past the last
// knot of an axis the utilisation is held, so only the ideal time scales; Inside
// says whether a shape lies within the knots. Nothing here looks a coefficient
// up, knows an engine, or chooses a kernel. Rules kept: SUB-5, SUB-6, VAL-10 of
// the Target Design.
package form
