package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

const minus = "\u2212"

// number writes v with four significant digits and no exponent.
func number(v float64) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	digits := 4
	for a := math.Abs(v); a >= 1 && digits > 1; a /= 10 {
		digits--
	}
	if math.Abs(v) >= 1000 {
		digits = 0
	}
	return apart(sign(strconv.FormatFloat(v, 'f', digits, 64)))
}

// requests writes a number of requests, which is whole unless it is a mean.
func requests(v float64) string {
	if v == math.Trunc(v) {
		return apart(sign(strconv.FormatFloat(v, 'f', 0, 64)))
	}
	return number(v)
}

// aligned writes a latency in milliseconds with the decimals of its column.
func aligned(metric string, seconds float64) string {
	return apart(strconv.FormatFloat(seconds*1000, 'f', digits(metric), 64))
}

// digits are the decimals of a metric's milliseconds.
func digits(metric string) int {
	if strings.HasPrefix(metric, "ttft") || strings.HasPrefix(metric, "e2e") {
		return 1
	}
	return 2
}

// quantity writes v in the unit a reader expects: seconds as milliseconds, shares as percent.
func quantity(v float64, unit string) (text, shown string) {
	switch unit {
	case "s":
		return number(v * 1000), "ms"
	case "share", "ratio":
		return percent(v), ""
	}
	return number(v), unit
}

func percent(v float64) string {
	s := strconv.FormatFloat(100*v, 'f', 1, 64)
	if s == "-0.0" {
		s = "0.0"
	}
	return sign(s) + "%"
}

// signed writes a relative error with its sign; what rounds to nothing has none.
func signed(v float64) string { return withSign(v, "ratio") }

func sign(s string) string {
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		return minus + rest
	}
	return s
}

func raw(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func round3(v float64) float64 { return math.Round(v*1000) / 1000 }

// count writes n with thousands apart.
func count(n int) string { return apart(strconv.Itoa(n)) }

// apart writes a comma between the thousands of a number.
func apart(s string) string {
	whole, rest, _ := strings.Cut(s, ".")
	first := len(whole) - len(strings.TrimLeft(whole, minus))
	for i := len(whole) - 3; i > first; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		return whole + "." + rest
	}
	return whole
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

// share writes a published count of a published total.
func share(n, total int) string {
	if total == 0 {
		return count(n)
	}
	return fmt.Sprintf("%s (%s)", count(n), percent(float64(n)/float64(total)))
}

const tooFew = "too few points"

// figure puts a record.Figure in words, with all it rests on.
func figure(name string, f record.Figure) Figure { return figureSaid(name, f, inUnit) }

// bias is a figure whose sign matters.
func bias(name string, f record.Figure) Figure { return figureSaid(name, f, withSign) }

func figureSaid(name string, f record.Figure, say func(v float64, unit string) string) Figure {
	out := Figure{Name: name, Count: plural(f.Points(), "point"), Scope: f.Scope(), Covers: f.Covers()}
	v, ok := f.Value()
	if !ok {
		out.Value, out.Few = tooFew, true
		return out
	}
	out.Value = say(v, f.Unit())
	if low, high, ok := f.Interval(); ok {
		out.Interval = fmt.Sprintf("95%% interval %s to %s", say(low, f.Unit()), say(high, f.Unit()))
	}
	return out
}

// figureCells are a figure in a table: value, interval.
func figureCells(f record.Figure) (value, interval Cell) {
	v, ok := f.Value()
	if !ok {
		return Cell{Text: tooFew, Class: "few"}, Cell{}
	}
	value = Cell{Text: inUnit(v, f.Unit()), Value: raw(v)}
	if low, high, ok := f.Interval(); ok {
		interval = Cell{Text: inUnit(low, f.Unit()) + " to " + inUnit(high, f.Unit()), Value: raw(low), High: raw(high)}
	}
	return value, interval
}

// withSign is inUnit with the sign of what is positive too.
func withSign(v float64, unit string) string {
	s := inUnit(v, unit)
	if v > 0 && s != "0.0%" {
		return "+" + s
	}
	return s
}

func inUnit(v float64, unit string) string {
	text, shown := quantity(v, unit)
	if shown == "" {
		return text
	}
	return text + " " + shown
}

// slug makes a path element of a name: lower case letters, digits, dots and dashes.
func slug(name string) string {
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '_':
			if dash && b.Len() > 0 {
				b.WriteByte('-')
			}
			b.WriteRune(r)
			dash = false
		default:
			dash = true
		}
	}
	return b.String()
}

// metricNames are the short names of the metrics most pages show.
func metricName(id string) string {
	quantity, statistic, _ := strings.Cut(id, "_")
	switch quantity {
	case "ttft", "tpot", "itl":
		return strings.TrimSpace(strings.ToUpper(quantity) + " " + statistic)
	case "e2e":
		return strings.TrimSpace("end-to-end " + statistic)
	}
	return strings.ReplaceAll(id, "_", " ")
}
