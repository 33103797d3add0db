package strict

import (
	"reflect"
	"strings"
)

// flow is one line of [a, b] and {a: b}.
type flow struct {
	*layout
	text string // what is left of it
}

// flowed reads a flow that fills s.
func (l *layout) flowed(s string, out reflect.Value) bool {
	f := &flow{l, s}
	return f.value(out) && f.text == ""
}

// space skips spaces and reports the next byte, 0 at the end.
func (f *flow) space() byte {
	if f.text = strings.TrimLeft(f.text, " "); f.text == "" {
		return 0
	}
	return f.text[0]
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
				return ok && (quoted || word(key)) && f.take(':') && (quoted || f.text != "" && f.text[0] == ' ') && f.entry(out, key, &seen, f.value)
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

// scalarText reads a quoted scalar, or a plain one of bytes that mean nothing else in a flow.
func (f *flow) scalarText() (text string, quoted, ok bool) {
	if c := f.space(); c == '"' || c == '\'' {
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
