package metric

// sampled are the quantities with one sample a request, token or step.
var sampled = []Definition{
	{Quantity: "ttft", Formula: "arrival of the first streamed token - sending of the request, at the client", Population: Requests, Unit: "s", Better: Lower},
	{Quantity: "tpot", Formula: "(e2e - ttft) / (output tokens - 1), requests of two output tokens or more", Population: Requests, Unit: "s", Better: Lower},
	{Quantity: "itl", Formula: "gap between consecutive streamed chunks of one request, pooled over requests: from the first measured one on, whoever's they are", Population: Tokens, Unit: "s", Better: Lower},
	{Quantity: "e2e", Formula: "arrival of the last streamed token - sending of the request, at the client", Population: Requests, Unit: "s", Better: Lower},
	{Quantity: "queueing_delay", Formula: "launch of the first batch that holds the request - sending of the request", Population: Requests, Unit: "s", Better: Lower},
	{Quantity: "scheduling_delay", Formula: "launch of the first batch that holds the request - its arrival at the engine", Population: Requests, Unit: "s", Better: Lower},
}

// departures is what the rates of a steady state count: those sent and completed in the
// window alone would leave out a residence time's worth at its end.
const departures = "; of a steady state: of every request that completed in the window, whenever it was sent"

// rates are the quantities with one value a window.
var rates = []Definition{
	{ID: "request_throughput", Formula: "completed requests / window" + departures, Unit: "1/s", Better: Higher},
	{ID: "input_throughput", Formula: "prompt tokens of completed requests / window" + departures, Unit: "tokens/s", Better: Higher},
	{ID: "output_throughput", Formula: "output tokens of completed requests / window" + departures, Unit: "tokens/s", Better: Higher},
	{ID: "total_throughput", Formula: "(prompt + output tokens of completed requests) / window" + departures, Unit: "tokens/s", Better: Higher},
	{ID: "input_throughput_per_accelerator", Formula: "input_throughput / accelerators of the scope", Unit: "tokens/s", Better: Higher},
	{ID: "output_throughput_per_accelerator", Formula: "output_throughput / accelerators of the scope", Unit: "tokens/s", Better: Higher},
	{ID: "total_throughput_per_accelerator", Formula: "total_throughput / accelerators of the scope", Unit: "tokens/s", Better: Higher},
	{ID: "goodput", Formula: "completed requests that meet every objective of their client (those without one do) / window" + departures, Unit: "1/s", Better: Higher},
	{ID: "attainment", Formula: "completed requests that meet every objective of their client (those without one do) / requests sent in the window", Unit: "share", Better: Higher},
	{ID: "fairness_jain", Formula: "(sum x)^2 / (tenants * sum x^2), x the output tokens of a tenant's completed requests", Unit: "share", Better: Higher},
	{ID: "prefix_hit_rate", Formula: "prompt tokens found in the prefix cache / prompt tokens looked up, from the first measured request on, whoever's they are", Unit: "share", Better: Higher},
	{ID: "concurrency", Formula: "time-weighted mean of requests sent and not yet ended", Unit: "requests", Better: None},
	{ID: "preemptions", Formula: "preemptions / completed requests", Unit: "1", Better: Lower},
	{ID: "duration", Formula: "length of the measured window", Unit: "s", Better: None},
}

var latencyStatistics = []Statistic{Mean, Std, P50, P90, P95, P99, P999, Max}

var registry = build()

func build() []Definition {
	var out []Definition
	for _, q := range sampled {
		for _, s := range latencyStatistics {
			d := q
			d.ID, d.Statistic, d.Window = q.Quantity+"_"+string(s), s, MeasuredWindow
			out = append(out, d)
		}
	}
	for _, s := range []Statistic{Mean, P50, P90, P95, P99, P999} {
		out = append(out, Definition{
			ID: "interactivity_" + string(s), Quantity: "interactivity", Statistic: s, Population: Requests,
			Formula: "1 / tpot_" + string(s) + ", so a high percentile is the slow tail", Unit: "tokens/s", Window: MeasuredWindow, Better: Higher,
		})
	}
	for _, d := range rates {
		d.Quantity, d.Statistic, d.Population, d.Window = d.ID, Ratio, Window, MeasuredWindow
		out = append(out, d)
	}
	return out
}
