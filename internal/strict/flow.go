package strict

import (
	"encoding/json"
	"reflect"
	"strings"
)

// flow is [a, b] and {a: b}: on one line, or all of a JSON document.
type flow struct {
	*layout
	text string // what is left of it
}

// flowed reads a flow that fills s.
func (l *layout) flowed(s string, out reflect.Value) bool {
	f := &flow{l, s}
	return f.value(out) && f.text == ""
}

// space skips white space and reports the next byte, 0 at the end.
func (f *flow) space() byte {
	for i := range len(f.text) {
		if c := f.text[i]; c != ' ' && !(f.json && (c == '\n' || c == '\t' || c == '\r')) {
			f.text = f.text[i:]
			return c
		}
	}
	f.text = ""
	return 0
}

// take skips a byte that must be there.
func (f *flow) take(c byte) bool {
	if f.space() != c {
		return false
	}
	f.text = f.text[1:]
	return true
}

func (f *flow) value(dst reflect.Value) bool {
	switch f.space() {
	case 0:
		return false
	case '[':
		return f.open(dst, reflect.Slice, func(out reflect.Value) bool {
			return f.list('[', ']', func() bool { return f.item(out, f.value) })
		})
	case '{':
		return f.open(dst, reflect.Map, func(out reflect.Value) bool {
			var seen uint64
			return f.list('{', '}', func() bool {
				key, quoted, ok := f.scalarText()
				return ok && f.isKey(key, quoted) && f.take(':') && (quoted || f.text != "" && f.text[0] == ' ') && f.entry(out, key, &seen, f.value)
			})
		})
	}
	text, quoted, ok := f.scalarText()
	return ok && f.scalar(dst, text, quoted)
}

// list reads parts between brackets, with commas between them and none at the end.
func (f *flow) list(open, end byte, part func() bool) bool {
	if !f.take(open) {
		return false
	}
	if f.space() == end {
		return f.take(end)
	}
	for part() {
		if f.space() == end {
			return f.take(end)
		}
		if !f.take(',') {
			return false
		}
	}
	return false
}

// isKey is whether a scalar is one.
func (f *flow) isKey(text string, quoted bool) bool { return quoted || !f.json && word(text) }

// scalarText reads a quoted scalar, or a plain one of bytes that mean nothing else in a flow.
func (f *flow) scalarText() (text string, quoted, ok bool) {
	switch c := f.space(); {
	case c == '"' && f.json:
		text, ok = f.jsonString()
		return text, true, ok
	case f.json:
		end := strings.IndexAny(f.text, ",]} \n\t\r")
		if end < 0 {
			end = len(f.text)
		}
		text, f.text = f.text[:end], f.text[end:]
		return text, false, end > 0
	case c == '"' || c == '\'':
		text, f.text, ok = unquote(f.text)
		return text, true, ok
	}
	end := strings.IndexAny(f.text, ",[]{}:#\"'&*!|>%@`?")
	if end <= 0 || strings.IndexByte("=<", f.text[0]) >= 0 || f.text[0] == '-' && (end == 1 || f.text[1] == ' ' || f.text[1] == '-') {
		return "", false, false
	}
	text = strings.TrimRight(f.text[:end], " ")
	f.text = f.text[end:]
	return text, false, true
}

// jsonString reads the string that the text begins with.
func (f *flow) jsonString() (text string, ok bool) {
	plain := true
	for i := 1; i < len(f.text); i++ {
		switch c := f.text[i]; {
		case c < ' ':
			return "", false
		case c == '\\':
			plain = false
			i++
		case c == '"':
			whole := f.text[:i+1]
			f.text = f.text[i+1:]
			if plain {
				return whole[1:i], true
			}
			return text, json.Unmarshal([]byte(whole), &text) == nil
		}
	}
	return "", false
}
