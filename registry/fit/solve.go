package fit

import (
	"math"

	"github.com/inference-sim/accuracy-dashboard/cost/form"
)

// problem is a penalised least-squares fit of log2 utilisation: every sample is
// a weighted sum of a few unknowns, the logs of a curve's values.
type problem struct {
	unknowns int
	rows     [][]form.Weight // one per sample
	y        []float64       // log2 of the measured utilisation
	rough    []penalty       // smoothness and shrinkage
}

// penalty asks that a weighted sum of unknowns be near zero.
type penalty struct {
	at     [3]int
	w      [3]float64
	n      int
	weight float64
}

// solve minimises sum |r| (by reweighting) plus the penalties: the median, not
// the mean, of what repeated measurements say, so isolated spikes do not pull.
func (p *problem) solve(rounds, steps int) []float64 {
	x := make([]float64, p.unknowns)
	weight := make([]float64, len(p.y))
	for i := range weight {
		weight[i] = 1
	}
	for range rounds {
		p.conjugate(x, weight, steps)
		for i, r := range p.residuals(x) {
			weight[i] = 1 / math.Max(math.Abs(r), robust)
		}
	}
	return x
}

// robust is where the loss turns from quadratic to absolute, in log2.
const robust = 0.02

func (p *problem) residuals(x []float64) []float64 {
	out := make([]float64, len(p.y))
	for i, row := range p.rows {
		v := p.y[i]
		for _, w := range row {
			v -= float64(w.Share * x[w.Index])
		}
		out[i] = v
	}
	return out
}

// conjugate runs Jacobi-preconditioned conjugate gradients on the normal
// equations, starting from x.
func (p *problem) conjugate(x, weight []float64, steps int) {
	n := p.unknowns
	diag, b := make([]float64, n), make([]float64, n)
	for i, row := range p.rows {
		for _, w := range row {
			diag[w.Index] += float64(weight[i] * w.Share * w.Share)
			b[w.Index] += float64(weight[i] * w.Share * p.y[i])
		}
	}
	for _, q := range p.rough {
		for k := range q.n {
			diag[q.at[k]] += float64(q.weight * q.w[k] * q.w[k])
		}
	}
	r, z, d, ad := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	p.apply(x, weight, ad)
	rz, start := 0.0, 0.0
	for i := range n {
		r[i] = b[i] - ad[i]
		z[i] = r[i] / diag[i]
		d[i] = z[i]
		rz += float64(r[i] * z[i])
		start += float64(b[i] * b[i] / diag[i])
	}
	for range steps {
		if rz <= 1e-12*start {
			return
		}
		p.apply(d, weight, ad)
		alpha := rz / dot(d, ad)
		for i := range n {
			x[i] += float64(alpha * d[i])
			r[i] -= float64(alpha * ad[i])
			z[i] = r[i] / diag[i]
		}
		next := dot(r, z)
		for i := range n {
			d[i] = z[i] + float64(next/rz*d[i])
		}
		rz = next
	}
}

// apply multiplies by the normal matrix.
func (p *problem) apply(x, weight, out []float64) {
	clear(out)
	for i, row := range p.rows {
		v := 0.0
		for _, w := range row {
			v += float64(w.Share * x[w.Index])
		}
		v *= weight[i]
		for _, w := range row {
			out[w.Index] += float64(v * w.Share)
		}
	}
	for _, q := range p.rough {
		v := 0.0
		for k := range q.n {
			v += float64(q.w[k] * x[q.at[k]])
		}
		v *= q.weight
		for k := range q.n {
			out[q.at[k]] += float64(v * q.w[k])
		}
	}
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i := range a {
		s += float64(a[i] * b[i])
	}
	return s
}
