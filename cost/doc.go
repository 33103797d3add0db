// Package cost prices what an engine says it runs: a step, the memory of a
// plan, a KV transfer. It also implements engines.Environment over a catalog and
// a coefficient registry.
//
// In: plan.PoolPlan, plan.StepShape, plan.Move, and handles on the catalog and
// the registry. Out: seconds, bytes and link demands, each with the least trusted
// method it rests on. It resolves no setting, pads nothing, chooses no kernel,
// knows no engine, and has no clock, goroutine, file or randomness. Every number
// that is not a published fact is a registry entry.
//
// How a step is composed (model of step.go):
//
//	device = operators                                  one after the other
//	device = max(device, launches x host time of one)   launches: kernels no graph replays
//	total  = device + gap + per sequence                while the host prepares ahead: max(total, host)
//	total  = device + gap + per sequence + host         where it does not
//
// Ranks in lockstep wait for the slowest. Rules kept: SUB-1, SUB-6, SUB-7,
// SUB-10, SUB-11, SUB-14, SUB-17, SUB-20, VAL-3, VAL-8, VAL-9 of the Target
// Design; sections 6.2 and 6.3.
package cost
