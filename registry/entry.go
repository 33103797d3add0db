package registry

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/cost/form"
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// Entry is one coefficient: a key, a curve or the donor of one, and the evidence.
type Entry struct {
	Key    `yaml:",inline"`
	Method string `yaml:"method"`         // plan.Method
	Rule   string `yaml:"rule,omitempty"` // how a value that is not measured was obtained, and why

	Source *Source  `yaml:"source,omitempty"`        // the table it was fitted to
	Error  *Error   `yaml:"error,omitempty"`         // on rows the fit never saw
	Factor Interval `yaml:"interval,flow,omitempty"` // 95% of a common factor on every price, low and high; absent is unknown

	Unidentified bool `yaml:"unidentified,omitempty"` // interval unbounded or wider than half the value

	Donor *Key        `yaml:"donor,omitempty"` // the entry whose utilisation is used here
	Curve *form.Curve `yaml:"curve,omitempty"` // its knots span the shapes measured (VAL-10)
	Value *float64    `yaml:"value,omitempty"` // of a scalar, in Unit
	Unit  string      `yaml:"unit"`            // "s" for a curve: it prices calls in seconds

	method plan.Method
	curve  *form.Curve
	file   string
}

// Interval is a low and a high factor on a value; zero is unknown.
type Interval [2]float64

// IsZero lets an unknown interval be left out of a file.
func (i Interval) IsZero() bool { return i == Interval{} }

// Source is a table of operator timings.
type Source struct {
	Table  string `yaml:"table"` // <chip>/<family>/<engine>/<version>/<table>
	SHA256 string `yaml:"sha256"`
	Rows   int    `yaml:"rows"` // rows of this kernel and format
	Note   string `yaml:"note,omitempty"`
}

// Error is the absolute relative error on held-out shapes, fitted without them.
type Error struct {
	Held   int     `yaml:"held"`
	Median float64 `yaml:"median"`
	P95    float64 `yaml:"p95"`
	Bias   float64 `yaml:"bias"` // median signed error
}

// effective is the rank a price reports when the shape lies inside (VAL-3).
func (e *Entry) effective() plan.Method {
	if e.Unidentified {
		return plan.Assumed
	}
	return e.method
}

// Effective is the method a price reports: an extrapolated lookup ranks at best
// with transferred (VAL-3).
func (r Resolved) Effective(inside bool) plan.Method {
	if !inside {
		return max(r.Method, plan.Transferred)
	}
	return r.Method
}

// Flags are the reasons Effective is worse than the entry's method.
func (r Resolved) Flags(inside bool) []string {
	var f []string
	if !inside {
		f = append(f, "extrapolated")
	}
	if r.Entry.Unidentified {
		f = append(f, "unidentified")
	}
	return f
}

// identity is what makes two entries the same one (§3.3): an overlay's replaces.
func (e *Entry) identity() string {
	return strings.Join([]string{string(e.Primitive), e.Chip, e.Kernel, e.Format, strconv.FormatBool(e.Windowed), e.Version, string(e.Boundary), e.Method}, "|")
}

// check holds an entry to the rules that need no other entry.
func (e *Entry) check() error {
	var ok bool
	if e.method, ok = plan.ParseMethod(e.Method); !ok {
		return e.refuse("method", e.Method, "no such method", "measured, calibrated, transferred, literature, vendor_spec, roofline or assumed", "VAL-1")
	}
	unit, known := unitOf(e.Primitive)
	switch {
	case !known:
		return e.refuse("primitive", string(e.Primitive), "no such primitive", fmt.Sprint(plan.Primitives(), Scalars()), "SUB-7")
	case unit != e.Unit:
		return e.refuse("unit", e.Unit, "not the unit the formula reads", unit, "SUB-16")
	}
	if e.Boundary != Device && e.Boundary != Host {
		return e.refuse("boundary", string(e.Boundary), "no such measurement boundary", "device or host", "VAL-9")
	}
	if e.Format != "" {
		if _, err := form.ParseFormat(e.Format); err != nil {
			return err
		}
	}
	fitted := e.method == plan.Measured || e.method == plan.Calibrated
	switch {
	case fitted && e.Source == nil:
		return e.refuse("source", "", "a fitted value states its data", "table, hash and rows", "VAL-1")
	case fitted && e.Kernel == "" && e.method == plan.Measured:
		return e.refuse("kernel", "", "a measured value names the kernel that was measured", "<library>/<variant>", "VAL-8")
	case !fitted && e.Rule == "":
		return e.refuse("rule", "", "a value that was not fitted states its rule", "a sentence", "VAL-1")
	case b2i(e.Curve != nil)+b2i(e.Donor != nil)+b2i(e.Value != nil) != 1:
		return e.refuse("curve", "", "states none or several of curve, donor and value", "exactly one of them", "VAL-1")
	case fitted && e.Unidentified != e.Wide():
		return e.refuse("unidentified", strconv.FormatBool(e.Unidentified), "disagrees with the interval", "true exactly when it is unknown or wider than half the value", "VAL-10")
	}
	return nil
}

// Wide reports an interval that is unknown or does not determine the value.
func (e *Entry) Wide() bool {
	return e.Factor.IsZero() || e.Factor[1]-e.Factor[0] > 0.5
}

func (e *Entry) refuse(field, value, problem, accept, rule string) error {
	return &diag.Refusal{File: e.file, Field: e.Key.String() + ": " + field, Value: value, Problem: problem, Accept: accept, Rule: rule}
}

// Newer orders versions, newest first, by their numbers and then as text.
func Newer(a, b string) int {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		p, errP := strconv.Atoi(x[i])
		q, errQ := strconv.Atoi(y[i])
		c := cmp.Compare(q, p)
		if errP != nil || errQ != nil {
			c = cmp.Compare(y[i], x[i])
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(y), len(x))
}
