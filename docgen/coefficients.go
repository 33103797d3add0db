package docgen

import (
	"fmt"

	"github.com/inference-sim/accuracy-dashboard/registry"
)

// coefficients counts entries by chip and method, and lists every fitted one with its
// error on shapes that were kept from the fit.
func coefficients(r *registry.Registry) (string, error) {
	if r == nil {
		return "", nil
	}
	entries, err := r.Entries()
	if err != nil {
		return "", err
	}
	methods := []string{"measured", "calibrated", "transferred", "literature", "vendor_spec", "roofline", "assumed"}
	count := map[string]map[string]int{}
	var fitted [][]string
	for _, e := range entries {
		chip := e.Chip
		if chip == "" {
			chip = "every chip"
		}
		if count[chip] == nil {
			count[chip] = map[string]int{}
		}
		count[chip][e.Method]++
		if e.Error != nil {
			rows := ""
			if e.Source != nil {
				rows = fmt.Sprint(e.Source.Rows)
			}
			fitted = append(fitted, []string{chip, string(e.Primitive), e.Kernel, e.Version, e.Format, rows, fmt.Sprint(e.Error.Held),
				percent(e.Error.Median), percent(e.Error.P95), percent(e.Error.Bias)})
		}
	}
	var chips [][]string
	for _, chip := range sorted(count) {
		row := []string{chip}
		for _, m := range methods {
			row = append(row, fmt.Sprint(count[chip][m]))
		}
		chips = append(chips, row)
	}
	return "An entry answers for one primitive, kernel, number format and chip. The most trusted entry that matches is used, and every price names the least trusted method it needed.\n\n" +
		"## Entries by method, most trusted first\n\n" + table(append([]string{"chip"}, methods...), chips) +
		"\n## Errors on held-out shapes\n\nThe fit was repeated without the held shapes and judged on them. Bias is the median of the signed errors. These are errors of one operation on one chip and not of a latency.\n\n" +
		table([]string{"chip", "primitive", "kernel", "version", "format", "rows", "held", "median error", "p95 error", "bias"}, fitted), nil
}

func percent(x float64) string { return fmt.Sprintf("%.1f%%", 100*x) }
