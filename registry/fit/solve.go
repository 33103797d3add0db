package fit

import (
	"math"

	"github.com/inference-sim/accuracy-dashboard/cost/form"
)

// problem is a penalised least-squares fit of log2 utilisation: every sample is
// a weighted sum of a few unknowns, the logs of a curve's values.
type problem struct {
	unknowns int
	index    []int32   // of the unknowns of all samples, one after the other
	share    []float64 // their weights
	end      []int     // where each sample's part of index and share ends
	y        []float64 // log2 of the measured utilisation
	rough    []penalty // smoothness and shrinkage
}

// add appends a sample.
func (p *problem) add(row []form.Weight, y float64) {
	for _, w := range row {
		p.index = append(p.index, int32(w.Index))
		p.share = append(p.share, w.Share)
	}
	p.end = append(p.end, len(p.index))
	p.y = append(p.y, y)
}

// times is sample by sample the weighted sum of the unknowns.
func (p *problem) times(x, out []float64) {
	at := 0
	for i, end := range p.end {
		v := 0.0
		for ; at < end; at++ {
			v += float64(p.share[at] * x[p.index[at]])
		}
		out[i] = v
	}
}

// spread adds each sample's value to its unknowns, by their weights.
func (p *problem) spread(v, out []float64) {
	at := 0
	for i, end := range p.end {
		for ; at < end; at++ {
			out[p.index[at]] += float64(v[i] * p.share[at])
		}
	}
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
	p.times(x, out)
	for i, y := range p.y {
		out[i] = y - out[i]
	}
	return out
}

// conjugate runs Jacobi-preconditioned conjugate gradients on the normal
// equations, starting from x.
func (p *problem) conjugate(x, weight []float64, steps int) {
	n := p.unknowns
	diag, b := make([]float64, n), make([]float64, n)
	at := 0
	for i, end := range p.end {
		for ; at < end; at++ {
			v := float64(weight[i] * p.share[at])
			diag[p.index[at]] += float64(v * p.share[at])
			b[p.index[at]] += float64(v * p.y[i])
		}
	}
	for _, q := range p.rough {
		for k := range q.n {
			diag[q.at[k]] += float64(q.weight * q.w[k] * q.w[k])
		}
	}
	r, z, d, ad := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	buf := make([]float64, len(p.y))
	p.apply(x, weight, ad, buf)
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
		p.apply(d, weight, ad, buf)
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
func (p *problem) apply(x, weight, out, buf []float64) {
	clear(out)
	p.times(x, buf)
	for i := range buf {
		buf[i] *= weight[i]
	}
	p.spread(buf, out)
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
