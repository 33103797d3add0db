package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// timeline draws what the simulated run did over time: one strip a quantity, from the first
// request of the warm-up to the last token.
func timeline(t *record.Timeline) []Block {
	if t == nil || len(t.Running) < 2 {
		return nil
	}
	n := len(t.Running)
	end := t.BinSeconds * float64(n)
	var b strings.Builder
	b.WriteString(`<figure class="timeline">` + "\n")
	for i, strip := range []struct {
		name, unit string
		of         []float64
		text       func(float64) string
	}{
		{"Requests running", "", t.Running, requests}, {"Requests waiting", "", t.Waiting, requests},
		{"KV cache in use", "", t.KV, percent}, {"Tokens scheduled", " tokens/s", t.Tokens, number},
	} {
		top := slices.Max(strip.of)
		said := "none at any time"
		if top > 0 {
			said = "at most " + strip.text(top) + strip.unit
		}
		fmt.Fprintf(&b, `<div><p>%s <b>%s</b></p><svg viewBox="0 0 %d 40" preserveAspectRatio="none" role="img" aria-label="%s over simulated time: %s">`, strip.name, said, n, strip.name, said)
		if t.Measured > 0 && end > 0 {
			fmt.Fprintf(&b, `<rect class="warm" width="%.2f" height="40"/>`, t.Measured/t.BinSeconds)
		}
		if top > 0 {
			fmt.Fprintf(&b, `<path class="t%d" d="M0 40`, i)
			for k, v := range strip.of {
				fmt.Fprintf(&b, "V%.1fH%d", 40-39*v/top, k+1)
			}
			b.WriteString(`V40Z"/>`)
		}
		b.WriteString("</svg></div>\n")
	}
	warm := "."
	if t.Measured > 0 {
		warm = fmt.Sprintf("; measuring starts at %s s, and the shaded part before it is the warm-up.", number(t.Measured))
	}
	fmt.Fprintf(&b, "<figcaption>From 0 to %s s of simulated time in %d bins of %s s. A value is the mean over the batches of its bin%s Requests and KV cache are those of one engine instance.</figcaption>\n</figure>\n", number(end), n, number(t.BinSeconds), warm)
	return []Block{{Kind: "picture", ID: "timeline", Title: "What the simulated run did over time", Picture: b.String()}}
}
