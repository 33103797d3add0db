package convert

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
	"github.com/inference-sim/accuracy-dashboard/internal/substream"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/inference-sim/accuracy-dashboard/sim/workload"
)

// serveGenSeed seeds the draws from ServeGen's input models.
const serveGenSeed = 1

// serveGenWindow is the seconds one row of a trace file covers.
const serveGenWindow = 600

// serveGen draws from the client models of alibaba/ServeGen@f891d118: pairs of
// NAME-trace.csv (start s, rate, coefficient of variation, family, two parameters)
// and NAME-dataset.json (start s -> token tables). Each window is a renewal process
// of its own rate and shape; lengths come from the latest table that starts at or
// before the window. Times count from the first active window of all clients. A client's
// draws are named by its file, wherever that lies.
func serveGen(files []File) (clients []workload.TraceClient, out []workload.TraceRow, err error) {
	tables := map[string]File{}
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name, "-dataset.json"); ok {
			tables[name] = f
		}
	}
	var all []model
	origin := math.Inf(1)
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name, "-trace.csv")
		if !ok {
			continue
		}
		m := model{name: path.Base(name), data: tables[name]}
		switch i := slices.IndexFunc(all, func(o model) bool { return o.name == m.name }); {
		case m.data.Name == "":
			return nil, nil, refuse(f.Name, 0, "", "", "has no "+name+"-dataset.json beside it")
		case i >= 0:
			return nil, nil, refuse(f.Name, 0, "", "", "has the name of another client's file, and would repeat its draws")
		}
		if m.windows, err = serveGenWindows(f); err != nil {
			return nil, nil, err
		}
		if len(m.windows) > 0 {
			origin = min(origin, m.windows[0].start)
		}
		all = append(all, m)
		clients = append(clients, workload.TraceClient{Class: name})
	}
	for c := range all {
		more, err := all[c].draw(c, origin)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, more...)
	}
	slices.SortStableFunc(out, func(a, b workload.TraceRow) int { return int(min(1, max(-1, *a.At-*b.At))) })
	return clients, out, nil
}

// model is one client's.
type model struct {
	name    string
	windows []window
	data    File
}

// window is one active row.
type window struct {
	start, rate, shape float64
	family             string
}

// draw makes the client's requests, timed from origin, in seconds.
func (m *model) draw(client int, origin float64) ([]workload.TraceRow, error) {
	if len(m.windows) == 0 {
		return nil, nil
	}
	lengths, err := serveGenTables(m.data)
	if err != nil {
		return nil, err
	}
	gaps := substream.New(serveGenSeed, m.name, "arrival")
	draws := substream.New(serveGenSeed, m.name, "length")
	var out []workload.TraceRow
	for i, w := range m.windows {
		table := lengths.at(w.start)
		if table == nil {
			return nil, refuse(m.data.Name, 0, fmt.Sprint(w.start), "", "has no token table at or before an active window")
		}
		s := gaps.At(uint64(i))
		for t := w.gap(&s); t < serveGenWindow; t += w.gap(&s) {
			n := int64(len(out))
			d := draws.At(uint64(n))
			input, output := table.input.draw(&d), table.output.draw(&d)
			r := row(client, n, own(client, n, input), output)
			at := workload.Microseconds(w.start - origin + t)
			r.At = &at
			out = append(out, r)
		}
	}
	return out, nil
}

// gap draws with mean 1/rate.
func (w *window) gap(s *substream.Stream) float64 {
	if w.family == "Weibull" {
		return s.Weibull(w.shape) / workload.WeibullMean(w.shape) / w.rate
	}
	return s.Gamma(w.shape) / w.shape / w.rate
}

func serveGenWindows(f File) ([]window, error) {
	lines, err := csv.NewReader(bytes.NewReader(f.Data)).ReadAll()
	if err != nil {
		return nil, refuse(f.Name, 0, "", "", err.Error())
	}
	var out []window
	for i, l := range lines {
		if len(l) != 6 {
			return nil, refuse(f.Name, i+1, "", fmt.Sprint(l), "is not start, rate, cv, family and two parameters")
		}
		var v [6]float64
		for k := range v {
			if k != 3 {
				if v[k], err = strconv.ParseFloat(l[k], 64); err != nil || !(math.Abs(v[k]) <= spec.MaxSeconds) {
					return nil, &diag.Refusal{File: f.Name, Line: i + 1, Value: l[k], Problem: "is no number of a window", Accept: "a number of at most 1e9"}
				}
			}
		}
		if v[1] == 0 {
			continue
		}
		if l[3] != "Gamma" && l[3] != "Weibull" || v[4] <= 0 || v[1] < 0 {
			return nil, refuse(f.Name, i+1, "family", l[3], "is not Gamma or Weibull with a positive shape")
		}
		out = append(out, window{start: v[0], rate: v[1], shape: v[4], family: l[3]})
	}
	return out, nil
}

// table is one window's marginal lengths.
type table struct {
	start         float64
	input, output marginal
}

// marginal is a probability table.
type marginal struct {
	values     []int
	cumulative []float64
}

func (m *marginal) draw(s *substream.Stream) int {
	u := s.Float64() * m.cumulative[len(m.cumulative)-1]
	i, _ := slices.BinarySearch(m.cumulative, u)
	return m.values[min(i, len(m.values)-1)]
}

type tableList []table

// at is the latest table that starts at or before t.
func (l tableList) at(t float64) *table {
	var found *table
	for i := range l {
		if l[i].start <= t {
			found = &l[i]
		}
	}
	return found
}

// serveGenTables reads the non-empty tables in order of time.
func serveGenTables(f File) (tableList, error) {
	var raw map[string]map[string]string
	if err := strict.Foreign(f.Name, f.Data, &raw); err != nil {
		return nil, err
	}
	var out tableList
	for start, fields := range raw { //determinism:any-order sorted below
		t, err := strconv.ParseFloat(start, 64)
		if err != nil {
			return nil, refuse(f.Name, 0, start, "", "is not a time")
		}
		if fields["input_tokens"] == "{}" || fields["output_tokens"] == "{}" {
			continue
		}
		input, err := parseMarginal(fields["input_tokens"])
		if err != nil {
			return nil, refuse(f.Name, 0, start+".input_tokens", "", err.Error())
		}
		output, err := parseMarginal(fields["output_tokens"])
		if err != nil {
			return nil, refuse(f.Name, 0, start+".output_tokens", "", err.Error())
		}
		out = append(out, table{t, input, output})
	}
	slices.SortFunc(out, func(a, b table) int { return int(min(1, max(-1, a.start-b.start))) })
	return out, nil
}

// parseMarginal reads "{length: probability, ...}".
func parseMarginal(s string) (m marginal, err error) {
	body := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(s), "{"), "}")
	total := 0.0
	for _, pair := range strings.Split(body, ",") {
		k, v, ok := strings.Cut(pair, ":")
		length, err := strconv.ParseFloat(strings.TrimSpace(k), 64)
		p, err2 := strconv.ParseFloat(strings.TrimSpace(v), 64)
		if !ok || err != nil || err2 != nil || !(p >= 0 && p <= 1) || !(length >= 0 && length <= spec.MaxTokens) {
			return m, fmt.Errorf("%q is not length: probability", pair)
		}
		total += p
		m.values = append(m.values, max(1, int(length)))
		m.cumulative = append(m.cumulative, total)
	}
	if total <= 0 {
		return m, fmt.Errorf("the probabilities add up to nothing")
	}
	return m, nil
}
