package convert

import (
	"fmt"
	"math"
	"testing"

	xrand "math/rand/v2"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/sim/analysis"
	"gonum.org/v1/gonum/stat/distuv"
)

// phase is ten minutes of one client as the source models it.
type phase struct {
	start         float64
	rate          float64 // 0 is silence
	family        string
	shape         float64
	input, output int // the second value; the first is 10, and both are equally likely
}

// The phases differ in load, in burstiness and in lengths; two of them have the same
// load or the same lengths as another, so that a test that looks at one alone fails.
var phases = []phase{
	{0, 2, "Gamma", 0.2, 100, 400},
	{600, 2, "Gamma", 4, 100, 400},
	{1200, 0, "Gamma", 1, 100, 400},
	{1800, 5, "Weibull", 0.6, 3000, 50},
	{2400, 1, "Weibull", 2, 3000, 400},
}

func (p *phase) gap(src *xrand.PCG) float64 {
	if p.family == "Weibull" {
		d := distuv.Weibull{K: p.shape, Lambda: 1, Src: src}
		return d.Rand() / d.Mean() / p.rate
	}
	return distuv.Gamma{Alpha: p.shape, Beta: p.shape * p.rate, Src: src}.Rand()
}

// TestServeGenKeepsEachPhase keeps DEV-7: phase by phase the converted requests have the
// source's load, gaps and lengths, by two-sample tests against draws by another
// implementation; the same tests tell each phase from every other.
func TestServeGenKeepsEachPhase(t *testing.T) {
	keep.Rule(t, "DEV-7")
	trace, tables := "", ""
	for _, p := range phases {
		trace += fmt.Sprintf("%v,%v,1,%s,%v,1\n", p.start, p.rate, p.family, p.shape)
		tables += fmt.Sprintf(`, "%v": {"input_tokens": "{10: 0.5, %d: 0.5}", "output_tokens": "{10: 0.5, %d: 0.5}"}`, p.start, p.input, p.output)
	}
	got := drain(t, "servegen", 0, []File{{"x-trace.csv", []byte(trace)}, {"x-dataset.json", []byte("{" + tables[2:] + "}")}})
	for i := range phases {
		if n := len(during(got, &phases[i])); phases[i].rate == 0 && n > 0 {
			t.Errorf("phase %d: got %d requests in silence", i, n)
		} else if want := phases[i].rate * serveGenWindow; math.Abs(float64(n)-want) > 0.25*want {
			t.Errorf("phase %d: got %d requests, want about %.0f", i, n, want)
		}
		for k := range phases {
			if phases[i].rate == 0 || phases[k].rate == 0 {
				continue
			}
			if least, of := agreement(during(got, &phases[i]), &phases[k]); (least > 0.001) != (i == k) {
				t.Errorf("requests of phase %d against the model of phase %d: %s agree with p = %v", i, k, of, least)
			}
		}
	}
}

// during are the requests sent in a phase.
func during(all []sent, p *phase) (out []sent) {
	for _, s := range all {
		if at := float64(s.at) / 1e6; at >= p.start && at < p.start+serveGenWindow {
			out = append(out, s)
		}
	}
	return out
}

// agreement is the least p-value of gaps, inputs, outputs and their product under p.
func agreement(requests []sent, p *phase) (least float64, of string) {
	src := xrand.NewPCG(3, 4)
	coin := distuv.Bernoulli{P: 0.5, Src: src}
	either := func(other int) float64 { return 10 + coin.Rand()*float64(other-10) }
	seen, own := map[string][]float64{}, map[string][]float64{}
	for i, s := range requests {
		if i > 0 {
			seen["gaps"] = append(seen["gaps"], float64(s.at-requests[i-1].at)/1e6)
		}
		seen["inputs"] = append(seen["inputs"], float64(s.prompt))
		seen["outputs"] = append(seen["outputs"], float64(s.output))
		seen["pairs"] = append(seen["pairs"], float64(s.prompt*s.output))
	}
	for range 3000 {
		in, out := either(p.input), either(p.output)
		own["gaps"] = append(own["gaps"], p.gap(src))
		own["inputs"], own["outputs"], own["pairs"] = append(own["inputs"], in), append(own["outputs"], out), append(own["pairs"], in*out)
	}
	least = 2
	for _, name := range []string{"gaps", "inputs", "outputs", "pairs"} {
		if q := analysis.TwoSample(seen[name], own[name]); q < least {
			least, of = q, name
		}
	}
	return least, of
}
