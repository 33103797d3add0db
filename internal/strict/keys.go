package strict

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// repeated refuses an object that has a key twice: encoding/json lets the last one win. data is one
// valid document.
func repeated(file string, data []byte) error {
	k := keys{text: string(data)}
	err := k.value(0)
	if r, ok := err.(*diag.Refusal); ok {
		r.File = file
		r.Line, r.Col = position(data, int64(k.at))
	}
	return err
}

// keys walks a valid document by its brackets and strings alone.
type keys struct {
	text string
	at   int
	seen []map[string]bool // by depth: one map serves every object of it
}

const space = " \t\r\n"

// next skips to the next byte that is none of those in skip.
func (k *keys) next(skip string) byte {
	for strings.IndexByte(skip, k.text[k.at]) >= 0 {
		k.at++
	}
	return k.text[k.at]
}

func (k *keys) value(depth int) error {
	switch k.next(space) {
	case '{':
		return k.object(depth)
	case '[':
		k.at++
		for i := 0; k.next(space+",") != ']'; i++ {
			if err := k.value(depth); err != nil {
				return inItem(i, err)
			}
		}
		k.at++
	case '"':
		k.string()
	default: // a number, true, false or null
		for k.at < len(k.text) && strings.IndexByte(space+",]}", k.text[k.at]) < 0 {
			k.at++
		}
	}
	return nil
}

func (k *keys) object(depth int) error {
	if depth == len(k.seen) {
		k.seen = append(k.seen, map[string]bool{})
	}
	seen := k.seen[depth]
	clear(seen)
	k.at++
	for k.next(space+",") != '}' {
		key := k.string()
		if seen[key] {
			return inKey(key, &diag.Refusal{Problem: "repeats a key", Accept: "each key once"})
		}
		seen[key] = true
		k.next(space + ":")
		if err := k.value(depth + 1); err != nil {
			return inKey(key, err)
		}
	}
	k.at++
	if len(seen) > 64 { // clearing a map costs what it once held
		k.seen[depth] = map[string]bool{}
	}
	return nil
}

// string reads a string as what it stands for.
func (k *keys) string() string {
	start, plain := k.at, true
	for k.at++; k.text[k.at] != '"'; k.at++ {
		if c := k.text[k.at]; c == '\\' {
			plain = false
			k.at++
		} else if c >= utf8.RuneSelf {
			plain = false
		}
	}
	k.at++
	if plain {
		return k.text[start+1 : k.at-1]
	}
	var s string
	_ = json.Unmarshal([]byte(k.text[start:k.at]), &s) // the document is valid
	return s
}
