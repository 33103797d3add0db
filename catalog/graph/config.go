package graph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

// config is one vendor document whose every key must be read or known to leave
// the shape alone. Reading a key marks it; done refuses what is left.
type config struct {
	file string
	keys map[string]json.RawMessage
	read map[string]bool
	err  error // the first failure; later reads do nothing
}

func parse(file string, data []byte) (*config, error) {
	c := &config{file: file, read: map[string]bool{}}
	if err := strict.JSON(file, data, &c.keys); err != nil {
		return nil, err
	}
	return c, nil
}

// get decodes key into v and says whether it was there and not null.
func (c *config) get(key string, v any) bool {
	c.read[key] = true
	raw, ok := c.keys[key]
	if !ok || string(raw) == "null" || c.err != nil {
		return false
	}
	if err := json.Unmarshal(raw, v); err != nil {
		c.fail(key, string(raw), err.Error(), "")
		return false
	}
	return true
}

// need is get for a key the architecture cannot do without.
func (c *config) need(key string, v any) {
	if !c.get(key, v) {
		c.fail(key, "", "is missing", "a value, as this architecture's configurations have")
	}
}

func (c *config) size(key string) int {
	var n int
	c.need(key, &n)
	return n
}

func (c *config) optional(key string) int {
	var n int
	c.get(key, &n)
	return n
}

func (c *config) flag(key string) bool {
	var b bool
	c.get(key, &b)
	return b
}

func (c *config) text(key string) string {
	var s string
	c.get(key, &s)
	return s
}

// must refuses a document whose key, when it is there, has another value than the
// one this deriver knows the shape of.
func (c *config) must(key string, want ...any) {
	c.read[key] = true
	raw, ok := c.keys[key]
	if !ok {
		return
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		c.fail(key, string(raw), err.Error(), "")
	}
	for _, w := range want {
		if b, err := json.Marshal(w); err == nil && bytes.Equal(b, compact.Bytes()) {
			return
		}
	}
	c.fail(key, compact.String(), "is a value whose shape is not known", fmt.Sprint(want...))
}

// sub opens a nested object; nil when it is absent.
func (c *config) sub(key string) *config {
	var keys map[string]json.RawMessage
	if !c.get(key, &keys) {
		return nil
	}
	return &config{file: c.file, keys: keys, read: map[string]bool{}}
}

func (c *config) fail(key, value, problem, accept string) {
	if c.err == nil {
		c.err = &diag.Refusal{File: c.file, Field: key, Value: value, Problem: problem, Accept: accept, Rule: "SUB-15"}
	}
}

// done returns the first failure, or a refusal of the first key nobody read.
func (c *config) done() error {
	if c.err != nil {
		return c.err
	}
	for _, key := range slices.Sorted(maps.Keys(c.keys)) {
		if !c.read[key] && !shapeless[key] {
			return &diag.Refusal{
				File: c.file, Field: key, Value: string(c.keys[key]), Rule: "SUB-15",
				Problem: "is a key this deriver does not know; it may change the shape",
				Accept:  "a configuration without it, or a handler that reads it",
			}
		}
	}
	return nil
}
