package strict

import (
	"cmp"
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// field is where a key of a struct goes.
type field struct {
	index []int
	bit   uint64 // its own in a mask of those seen; 0 when there are too many
}

var anyMap = reflect.TypeFor[map[string]any]()

// open finds what a mapping (reflect.Map) or a sequence (reflect.Slice) goes into, below pointers
// and interfaces, and fills it.
func (l *layout) open(out reflect.Value, kind reflect.Kind, fill func(reflect.Value) bool) bool {
	out, ok := l.settle(out)
	if l.depth++; !ok || l.depth > 100 {
		return false
	}
	defer func() { l.depth-- }()
	switch k := out.Kind(); {
	case k == reflect.Interface:
		made := reflect.ValueOf(&[]any{}).Elem()
		if kind == reflect.Map {
			made = reflect.ValueOf(&map[string]any{}).Elem()
		}
		if out.NumMethod() > 0 || !fill(made) {
			return false
		}
		out.Set(made)
		return true
	case k == reflect.Struct && kind == reflect.Map:
		return out.Type() != reflect.TypeFor[time.Time]() && fill(out)
	case k == reflect.Map && kind == reflect.Map:
		if t := out.Type(); t.Key().Kind() != reflect.String || t.Key().NumMethod() > 0 || reflect.PointerTo(t.Key()).NumMethod() > 0 || t.Elem().Kind() == reflect.Interface && t != anyMap {
			return false // yaml.v3 makes the maps inside a named one of its type
		}
		out.Set(reflect.MakeMap(out.Type()))
		return fill(out)
	case k == reflect.Slice && kind == reflect.Slice:
		out.Set(reflect.MakeSlice(out.Type(), 0, 0))
		return fill(out)
	case k == reflect.Array && kind == reflect.Slice:
		made := reflect.New(reflect.SliceOf(out.Type().Elem())).Elem()
		if !fill(made) || made.Len() != out.Len() {
			return false
		}
		reflect.Copy(out, made)
		return true
	}
	return false
}

// settle follows pointers, and is false for a type that decodes itself.
func (l *layout) settle(out reflect.Value) (reflect.Value, bool) {
	for out.Kind() == reflect.Pointer {
		out.Set(reflect.New(out.Type().Elem()))
		out = out.Elem()
	}
	at := out.Addr().Interface()
	_, node := at.(*yaml.Node)
	_, own := at.(yaml.Unmarshaler)
	if l.json {
		_, own = at.(json.Unmarshaler)
	}
	return out, !own && !node
}

// entry reads the value of a key of a struct or a map.
func (l *layout) entry(out reflect.Value, key string, seen *uint64, read func(reflect.Value) bool) bool {
	if len(key) > 100 { // YAML has an end for keys
		return false
	}
	if out.Kind() == reflect.Map {
		k, e := reflect.ValueOf(key).Convert(out.Type().Key()), reflect.New(out.Type().Elem()).Elem()
		if out.MapIndex(k).IsValid() || !read(e) {
			return false
		}
		out.SetMapIndex(k, e)
		return true
	}
	f, ok := l.shape(out.Type())[key]
	if !ok || f.index == nil || f.bit == 0 || *seen&f.bit != 0 {
		return false
	}
	*seen |= f.bit
	return read(out.FieldByIndex(f.index))
}

// item reads the next element of a slice.
func (l *layout) item(out reflect.Value, read func(reflect.Value) bool) bool {
	n := out.Len()
	out.Grow(1)
	out.SetLen(n + 1)
	return read(out.Index(n))
}

// shape is the keys of a struct type.
func (l *layout) shape(t reflect.Type) map[string]field {
	of, ok := l.fields[t]
	if !ok {
		of = map[string]field{}
		l.collect(t, nil, of)
		l.fields[t] = of
	}
	return of
}

func (l *layout) collect(t reflect.Type, above []int, of map[string]field) {
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(append([]int{}, above...), i)
		switch tag, inline := l.name(f); {
		case tag == "-" || !f.IsExported():
		case inline && f.Type.Kind() == reflect.Struct:
			l.collect(f.Type, index, of)
		case !inline:
			if _, twice := of[tag]; twice {
				index = nil // which of them it goes to is not known here
			}
			of[tag] = field{index, 1 << len(of)} // a shift beyond 64 is 0
		}
	}
}

// name is the key of a field; what it does not know how to name it leaves out.
func (l *layout) name(f reflect.StructField) (name string, inline bool) {
	if !l.json {
		return key(f)
	}
	name, options, tagged := strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case f.Anonymous && name == "":
		return "", true
	case tagged && strings.Contains(options, "string"):
		return "-", false
	}
	return cmp.Or(name, f.Name), false
}

// scalar sets dst; quoted says that text is no number, truth or null.
func (l *layout) scalar(dst reflect.Value, text string, quoted bool) bool {
	dst, ok := l.settle(dst)
	if !ok {
		return false
	}
	u, own := dst.Addr().Interface().(encoding.TextUnmarshaler)
	if l.json && !jsonFits(dst, own, quoted) {
		return false
	}
	switch k := dst.Kind(); {
	case !quoted && (text == "~" || isReserved(text) || strings.HasPrefix(strings.TrimLeft(text, "+-"), ".")):
		truth := k == reflect.Bool && !own && (text == "true" || text == "false")
		if truth {
			dst.SetBool(text == "true")
		}
		return truth
	case own:
		return dst.Type() != reflect.TypeFor[time.Time]() && u.UnmarshalText([]byte(text)) == nil
	case k == reflect.String:
		dst.SetString(text)
		return true
	case k == reflect.Interface && dst.NumMethod() == 0:
		return l.setAny(dst, text, quoted)
	case quoted || !number(text):
		return false
	case dst.CanFloat():
		x, err := strconv.ParseFloat(text, 64)
		dst.SetFloat(x)
		return err == nil
	case !whole64(text) || dst.Type() == reflect.TypeFor[time.Duration]():
		return false
	}
	return setWhole(dst, text)
}

func setWhole(dst reflect.Value, text string) bool {
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return false
	case dst.CanInt() && !dst.OverflowInt(n):
		dst.SetInt(n)
		return true
	case dst.CanUint() && n >= 0 && !dst.OverflowUint(uint64(n)):
		dst.SetUint(uint64(n))
		return true
	}
	return false
}

// jsonFits is whether JSON lets a string, or what is none, into dst.
func jsonFits(dst reflect.Value, own, quoted bool) bool {
	if own || dst.Kind() == reflect.String {
		return quoted && dst.Type() != reflect.TypeFor[json.Number]()
	}
	return !quoted || dst.Kind() == reflect.Interface
}

// setAny gives an interface what a scalar stands for.
func (l *layout) setAny(dst reflect.Value, text string, quoted bool) bool {
	switch {
	case l.json && !quoted:
		dst.Set(reflect.ValueOf(json.Number(text)))
		return number(text)
	case quoted || text[0]|0x20 >= 'a' && text[0]|0x20 <= 'z':
		dst.Set(reflect.ValueOf(text))
	case whole64(text):
		n, err := strconv.Atoi(text)
		dst.Set(reflect.ValueOf(n))
		return err == nil
	case number(text):
		x, err := strconv.ParseFloat(text, 64)
		dst.Set(reflect.ValueOf(x))
		return err == nil
	default:
		return false // a date, a number in another base: not here
	}
	return true
}

// whole64 is whether s is an integer as everyone writes it, of 64 bits for sure.
func whole64(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	return len(digits) > 0 && len(digits) <= 18 && strings.Trim(digits, "0123456789") == "" && (digits[0] != '0' || s == "0")
}

// number is whether s is a number as everyone writes it.
func number(s string) bool {
	mantissa, exponent, scaled := strings.Cut(s, "e")
	whole, fraction, point := strings.Cut(mantissa, ".")
	if whole == "-0" && point {
		whole = "0"
	}
	exponent = strings.TrimPrefix(strings.TrimPrefix(exponent, "+"), "-")
	return whole64(whole) && (!point || digits(fraction)) && (!scaled || digits(exponent))
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
