package docgen

import "github.com/inference-sim/accuracy-dashboard/sim/metric"

func metrics() string {
	var rows [][]string
	for _, d := range metric.All() {
		rows = append(rows, []string{code(d.ID), d.Formula, string(d.Statistic), string(d.Population), d.Unit, string(d.Better)})
	}
	return "The window of every metric runs " + metric.MeasuredWindow + ". Two figures are compared only when their id and scope are the same.\n\n" +
		table([]string{"id", "formula", "statistic", "population", "unit", "better"}, rows)
}
