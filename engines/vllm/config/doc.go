// Package config resolves vLLM's settings: argument and environment values as a
// launch states them, against a model and a chip, into the values the engine runs
// with, or into the refusal vLLM itself would give, in its words.
//
// In: arguments under their upstream names, environment variables, facts of the
// model and the chip. Out: a Config whose every value carries its source, or an
// *Upstream error. It opens nothing, sizes no memory and lowers no layer. What an
// argument this package does not read does is the field list's business (package
// vllm). CheckStartups replays start-ups recorded from vLLM's own code.
//
// Source: vllm-project/vllm@2f41c894e320a07a46a360ee72149dd84d6f4bec
// vllm/engine/arg_utils.py, vllm/config/*.py, vllm/platforms/cuda.py. Rules kept:
// X1, X9, VLM-3.
package config
