package strict

import (
	"reflect"
	"strings"
	"unicode/utf8"
)

// layout reads the part of YAML that the data files of this module are written in: blocks and
// one-line flows of plain and quoted scalars, and literal text. It takes a tenth of the time of
// yaml.v3, which was most of what starting a program took. Whatever it is not sure of, a fault
// included, it leaves to the caller: when a method is true, its part of the target is what yaml.v3
// makes of it.
type layout struct {
	rest   string // the lines after line
	indent int    // of line
	line   string // the current one, without indentation; "" at the end
	depth  int    // of what is open
	json   bool   // the document is JSON, whose values encoding/json gives other types
	fields map[reflect.Type]map[string]field
}

// direct fills v, a pointer to a zero value, from a document; or is false, and v is as it was.
func direct(data []byte, v any) bool {
	l := &layout{rest: string(data), fields: map[reflect.Type]map[string]field{}}
	return printable(data) && fill(v, func(made reflect.Value) bool {
		return l.next() && l.line != "" && l.indent == 0 && l.block(made) && l.line == ""
	})
}

// directJSON is direct for what encoding/json reads.
func directJSON(data []byte, v any) bool {
	f := &flow{&layout{json: true, fields: map[reflect.Type]map[string]field{}}, string(data)}
	return utf8.Valid(data) && fill(v, func(made reflect.Value) bool { return f.value(made) && f.space() == 0 && f.text == "" })
}

func fill(v any, read func(reflect.Value) bool) bool {
	out := reflect.ValueOf(v)
	if out.Kind() != reflect.Pointer || out.IsNil() || !out.Elem().IsZero() {
		return false
	}
	made := reflect.New(out.Type().Elem()).Elem()
	if !read(made) {
		return false
	}
	out.Elem().Set(made)
	return true
}

// printable is whether data is text whose line breaks are line feeds alone.
func printable(data []byte) bool {
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(data[i:])
			if n == 1 || r < 0xa0 || r == 0x2028 || r == 0x2029 || r >= 0xfe00 {
				return false
			}
			i += n - 1
		case c < ' ' && c != '\n' || c == 0x7f:
			return false
		}
	}
	return true
}

// next goes to the next line that is neither blank nor a comment.
func (l *layout) next() bool {
	for l.rest != "" {
		var line string
		line, l.rest, _ = strings.Cut(l.rest, "\n")
		text := strings.TrimLeft(line, " ")
		if text == "" || text[0] == '#' {
			continue
		}
		l.line, l.indent = text, len(line)-len(text)
		return text[len(text)-1] != ' '
	}
	l.line, l.indent = "", -1
	return true
}

// block reads what begins at the current line.
func (l *layout) block(out reflect.Value) bool {
	switch c := l.line[0]; {
	case strings.HasPrefix(l.line, "- "):
		return l.open(out, reflect.Slice, l.sequence)
	case c == '[' || c == '{':
		return l.flowed(l.line, out) && l.next()
	}
	return l.open(out, reflect.Map, l.mapping)
}

func (l *layout) mapping(out reflect.Value) bool {
	var seen uint64
	for indent := l.indent; l.line != "" && l.indent >= indent; {
		key, rest, ok := cutKey(l.line)
		if !ok || l.indent > indent || !l.entry(out, key, &seen, func(dst reflect.Value) bool { return l.value(indent, rest, dst) }) {
			return false
		}
	}
	return true
}

func (l *layout) sequence(out reflect.Value) bool {
	for indent := l.indent; l.line != "" && l.indent >= indent; {
		item, ok := strings.CutPrefix(l.line, "- ")
		if !ok && l.indent == indent {
			return true // the next key of a mapping whose sequence is not indented
		}
		if !ok || item[0] == ' ' || l.indent > indent || !l.item(out, func(dst reflect.Value) bool {
			if _, _, ok := cutKey(item); ok {
				l.line, l.indent = item, indent+len("- ")
				return l.block(dst)
			}
			return l.value(indent, item, dst)
		}) {
			return false
		}
	}
	return true
}

// cutKey splits "key: value", "key:".
func cutKey(line string) (key, rest string, ok bool) {
	key, rest, ok = strings.Cut(line, ":")
	if !ok || !word(key) || rest != "" && (rest[0] != ' ' || len(rest) < 2 || rest[1] == ' ') {
		return "", "", false
	}
	return key, strings.TrimPrefix(rest, " "), true
}

// word is whether s is a key that YAML cannot take for another kind of value.
func word(s string) bool {
	for i := range len(s) {
		if c := s[i] | 0x20; !(c >= 'a' && c <= 'z' || s[i] == '_' || i > 0 && (c >= '0' && c <= '9' || s[i] == '-' || s[i] == '.')) {
			return false
		}
	}
	return s != "" && !isReserved(s)
}

func isReserved(s string) bool { return len(s) <= len("false") && reserved[strings.ToLower(s)] }

// reserved are the words that YAML gives, or once gave, another meaning.
var reserved = map[string]bool{"null": true, "true": true, "false": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true}

// value reads what follows a key or a dash that stands at indent.
func (l *layout) value(indent int, rest string, dst reflect.Value) bool {
	switch {
	case rest == "":
		return l.next() && l.line != "" && (l.indent > indent || l.indent == indent && strings.HasPrefix(l.line, "- ")) && l.block(dst)
	case rest == "|":
		text, ok := l.literal(indent)
		return ok && l.next() && l.scalar(dst, text, true)
	case rest[0] == '[' || rest[0] == '{':
		return l.flowed(rest, dst) && l.next() && l.indent <= indent
	}
	text, quoted, ok := scalarText(rest)
	return ok && l.scalar(dst, text, quoted) && l.next() && l.indent <= indent // a line further in would go on with the scalar
}

// literal is the text of the lines further in than indent, which end before the first that is not.
func (l *layout) literal(indent int) (string, bool) {
	in := len(l.rest) - len(strings.TrimLeft(l.rest, " "))
	if in <= indent || in == 0 {
		return "", false
	}
	margin, end, lines := l.rest[:in], 0, 0
	for strings.HasPrefix(l.rest[end:], margin) {
		n := strings.IndexByte(l.rest[end:], '\n')
		if n < 0 || strings.TrimLeft(l.rest[end:end+n], " ") == "" {
			return "", false // how the text ends, and what a blank line is, depends on more
		}
		end += n + 1
		lines++
	}
	block := l.rest[:end]
	l.rest = l.rest[end:]
	if after := strings.TrimLeft(l.rest, " "); lines == 0 || l.rest != "" && (after == "" || after[0] == '\n') {
		return "", false
	}
	var b strings.Builder
	b.Grow(len(block) - lines*in)
	for line := range strings.Lines(block) {
		b.WriteString(line[in:])
	}
	return b.String(), true
}

// scalarText is the text of a scalar that fills the line.
func scalarText(s string) (text string, quoted, ok bool) {
	switch c := s[0]; {
	case c == '"' || c == '\'':
		text, rest, ok := unquote(s)
		return text, true, ok && rest == ""
	case strings.IndexByte("!&*|>%@`#,[]{}?:=<", c) >= 0, c == '-' && (len(s) == 1 || s[1] == ' ' || s[1] == '-'), s[len(s)-1] == ':',
		strings.Contains(s, ": "), strings.Contains(s, " #"):
		return "", false, false
	}
	return s, false, true
}

// unquote reads the quoted scalar that s begins with.
func unquote(s string) (text, rest string, ok bool) {
	quote := s[:1]
	text, rest, ok = strings.Cut(s[1:], quote)
	for quote == "'" && ok && strings.HasPrefix(rest, "'") {
		var more string
		more, rest, ok = strings.Cut(rest[1:], "'")
		text += "'" + more
	}
	return text, rest, ok && (quote == "'" || !strings.Contains(text, `\`))
}
