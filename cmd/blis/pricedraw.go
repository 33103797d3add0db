package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

const barWidth = 72

// draw prints the step as one stacked bar, one letter a kind of work, and a line
// a part.
func (a *priceAnswer) draw(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %d x %s, %s: %d tokens padded to %d, %s\n", a.Model, a.Ranks, a.Chip, a.Engine, a.Tokens, a.Padded, a.Launch)
	for _, limit := range a.Beyond {
		b.WriteString("the engine would not form this step: " + limit + "\n")
	}
	b.WriteString(a.sum() + "; least trusted method: " + a.Method + "\n\n")
	kinds := byKind(a.Parts)
	b.WriteString(bar(kinds, a.Seconds) + "\n")
	for i, k := range kinds {
		fmt.Fprintf(&b, "  %c %-22s %10s %5.1f%%\n", letter(i), k.name, k.seconds, 100*float64(k.seconds)/float64(a.Seconds))
	}
	fmt.Fprintf(&b, "\n%-24s %10s %22s %12s  %s\n", "part", "time", "95% interval", "of peak", "method, kernel")
	for _, p := range a.Parts {
		peak, within := "-", "not known"
		if p.Ideal > 0 {
			peak = fmt.Sprintf("%.0f%% %s", 100*float64(p.Ideal)/float64(p.Seconds), p.Bound)
		}
		if p.Low < p.High {
			within = fmt.Sprintf("%s to %s", p.Low, p.High)
		}
		fmt.Fprintf(&b, "%-24s %10s %22s %12s  %s\n", p.Name, p.Seconds, within, peak,
			strings.TrimSpace(strings.Join(append([]string{p.Method, p.Kernel}, p.Flags...), " ")))
	}
	fmt.Fprintf(&b, "\ninterval: %s\n", a.Interval)
	_, err := io.WriteString(w, b.String())
	return err
}

// sum states the step's time as its two parts, rounded so that they add up.
func (a *priceAnswer) sum() string {
	micro := func(s quantity.Seconds) int64 { return int64(math.Round(1e6 * float64(s))) }
	ms := func(micros int64) string { return fmt.Sprintf("%d.%03d ms", micros/1000, micros%1000) }
	total, exposed := micro(a.Seconds), micro(a.Exposed)
	s := fmt.Sprintf("%s a step = device %s + host %s the device waits for", ms(total), ms(total-exposed), ms(exposed))
	if a.Ahead > 0 {
		s += fmt.Sprintf(" (host work done ahead: %s, counted only where it outlasts the step)", a.Ahead)
	}
	return s
}

type kind struct {
	name    string
	seconds quantity.Seconds
}

// byKind sums parts by primitive, largest first.
func byKind(parts []pricePart) []kind {
	var out []kind
	for _, p := range parts {
		name := cmp.Or(p.Primitive, p.Name)
		i := slices.IndexFunc(out, func(k kind) bool { return k.name == name })
		if i < 0 {
			i, out = len(out), append(out, kind{name: name})
		}
		out[i].seconds += p.Seconds
	}
	out = slices.DeleteFunc(out, func(k kind) bool { return k.seconds == 0 })
	slices.SortStableFunc(out, func(a, b kind) int { return cmp.Compare(b.seconds, a.seconds) })
	return out
}

// bar gives each kind its share of the width; the last takes what rounding leaves.
func bar(kinds []kind, total quantity.Seconds) string {
	var b strings.Builder
	sum, drawn := 0.0, 0
	for i, k := range kinds {
		sum += float64(k.seconds)
		end := int(sum/float64(total)*barWidth + 0.5)
		b.WriteString(strings.Repeat(string(letter(i)), max(0, end-drawn)))
		drawn = max(drawn, end)
	}
	return "|" + b.String() + "|"
}

func letter(i int) rune { return rune('A' + i%26) }
