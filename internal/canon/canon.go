// Package canon gives every hashed or signed document one byte form: JSON with
// sorted keys, no spaces, non-ASCII kept as UTF-8 and no HTML escapes, and the
// SHA-256 of it in lower-case hex.
//
// In: a value encoding/json can write. Out: bytes that depend on the value alone.
// Numbers are written as encoding/json writes them; NaN and infinities are an
// error. Rules kept: X6, D4 (Target Design §10.2: "UTF-8, with sorted keys and
// no spaces").
package canon

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

// JSON returns the canonical bytes of v, without a final newline.
func JSON(v any) ([]byte, error) {
	raw, err := marshal(v)
	if err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // a float64 detour would change integers above 2^53
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	return appendTree(nil, tree)
}

// Indent is JSON laid out for people: two spaces a level and a final newline.
// Keys are sorted, so a diff shows only what changed.
func Indent(v any) ([]byte, error) {
	flat, err := JSON(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, flat, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// Hash returns the lower-case hex SHA-256 of the canonical bytes of v.
func Hash(v any) (string, error) {
	b, err := JSON(v)
	if err != nil {
		return "", err
	}
	return Sum(b), nil
}

// Sum returns the lower-case hex SHA-256 of b.
func Sum(b []byte) string {
	h := sha256.New()
	for part := range slices.Chunk(b, 8<<10) { // a browser puts faster code in place between calls
		h.Write(part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func appendTree(dst []byte, tree any) ([]byte, error) {
	switch t := tree.(type) {
	case map[string]any:
		return appendObject(dst, t)
	case []any:
		dst = append(dst, '[')
		for i, e := range t {
			if i > 0 {
				dst = append(dst, ',')
			}
			var err error
			if dst, err = appendTree(dst, e); err != nil {
				return nil, err
			}
		}
		return append(dst, ']'), nil
	default: // string, json.Number, bool, nil
		b, err := marshal(t)
		return append(dst, b...), err
	}
}

func appendObject(dst []byte, m map[string]any) ([]byte, error) {
	keys := make([]string, 0, len(m))
	for k := range m { //determinism:any-order sorted below
		keys = append(keys, k)
	}
	slices.Sort(keys)
	dst = append(dst, '{')
	for i, k := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		name, err := marshal(k)
		if err != nil {
			return nil, err
		}
		dst = append(append(dst, name...), ':')
		if dst, err = appendTree(dst, m[k]); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}
