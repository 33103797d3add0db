package docgen

import "fmt"

func prices(list []Price) string {
	var rows [][]string
	for _, p := range list {
		rows = append(rows, []string{p.Name, fmt.Sprintf("%.4g", float64(p.Seconds)*1e3), p.Method})
	}
	return "Each line is one step of one engine on one chip, priced by this build. The method is the least trusted among its coefficients.\n\n" +
		table([]string{"step", "milliseconds", "method"}, rows)
}
