package config

import (
	"fmt"
	"slices"
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

// choice is env_with_choices.
func (e environment) choice(name, unset string, choices ...string) (string, error) {
	v, ok := e.vars[name]
	if !ok {
		return unset, nil
	}
	if slices.Contains(choices, v) {
		return v, nil
	}
	quoted := make([]string, len(choices))
	for i, c := range choices {
		quoted[i] = fmt.Sprintf("'%s'", c)
	}
	return "", valueError("Invalid value '%s' for %s. Valid options: [%s].", v, name, strings.Join(quoted, ", "))
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
