package config

import (
	"strconv"
	"strings"
)

// environment reads the variables vllm/envs.py declares, as it parses them.
type environment struct{ vars map[string]string }

// flag is "1" or "true" for on.
func (e environment) flag(name string, unset bool) bool {
	v, ok := e.vars[name]
	if !ok {
		return unset
	}
	v = strings.ToLower(strings.TrimSpace(v))
	return v == "1" || v == "true"
}

// integer parses as Python's int().
func (e environment) integer(name string, unset int) (int, error) {
	v, ok := e.vars[name]
	if !ok {
		return unset, nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(v))
	if err != nil {
		return 0, valueError("%s: invalid literal for int() with base 10: '%s'", name, v)
	}
	return n, nil
}

// on is bool(int(value)).
func (e environment) on(name string, unset bool) (bool, error) {
	n := 0
	if unset {
		n = 1
	}
	n, err := e.integer(name, n)
	return n != 0, err
}
