package gate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

var seed = []byte(strings.Repeat("s", 32))

func published() ledger.Published { return ledger.Published{SeedSHA256: canon.Sum(seed)} }

func roleOf(t testing.TB, l *ledger.Ledger, k ledger.RoleKey) ledger.Role {
	t.Helper()
	roles, err := l.Roles(seed)
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := roles.Of(&ledger.Unit{Identity: ledger.Identity{RoleKey: k}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAnotherSeedIsRefused(t *testing.T) {
	keep.Rule(t, "T-A1")
	l, b, c := world(t, rand.New(rand.NewPCG(1, 2)), 0)
	if _, err := Compare(l, seed[1:], ledger.Held, b, c, nil); err == nil || !strings.Contains(err.Error(), "D7") && !strings.Contains(err.Error(), "seed") {
		t.Errorf("got %v, want a refusal", err)
	}
}

// world makes lanes of held units with a base error of about 10% and a candidate
// whose error on the first lane is lower by gain.
func world(t testing.TB, rng *rand.Rand, gain float64) (*ledger.Ledger, *Predictions, *Predictions) {
	t.Helper()
	l := &ledger.Ledger{Published: published()}
	base, cand := &Predictions{Schema: PredictionsSchema}, &Predictions{Schema: PredictionsSchema}
	for lane := range 5 {
		for n := 0; n < 40; {
			k := ledger.RoleKey{Model: fmt.Sprint("m", lane), ConfigHash: fmt.Sprint(rng.Uint64())}
			if roleOf(t, l, k) != ledger.Held {
				continue
			}
			n++
			u := ledger.Unit{Identity: ledger.Identity{RoleKey: k, Concurrency: n}, Measurements: []ledger.Measurement{{TPOTMeanMS: 1000}}}
			u.ID, _ = canon.Hash(u.Identity)
			l.Units = append(l.Units, u)
			e := 0.10 + 0.04*rng.NormFloat64()
			better := e + 0.01*rng.NormFloat64()
			if lane == 0 {
				better -= gain
			}
			base.Units = append(base.Units, Prediction{UnitID: u.ID, Metrics: map[string]float64{"tpot_mean": 1 + e}})
			cand.Units = append(cand.Units, Prediction{UnitID: u.ID, Metrics: map[string]float64{"tpot_mean": 1 + better}})
		}
	}
	slices.SortFunc(l.Units, func(a, b ledger.Unit) int { return strings.Compare(a.ID, b.ID) })
	for _, p := range []*Predictions{base, cand} {
		slices.SortFunc(p.Units, func(a, b Prediction) int { return strings.Compare(a.UnitID, b.UnitID) })
	}
	return l, base, cand
}

var m0 = &Target{Lane: "m0", Metric: "tpot_mean"}

// TestPower is the known-difference check: a 3% improvement of one lane is found
// on that lane and on no other in at least 95 of 100 repeats.
func TestPower(t *testing.T) {
	keep.Rule(t, "DEV-11", "VAL-6")
	rng, right := rand.New(rand.NewPCG(7, 7)), 0
	for range 100 {
		l, b, c := world(t, rng, 0.03)
		r, err := Compare(l, seed, ledger.Held, b, c, m0)
		if err != nil {
			t.Fatal(err)
		}
		ok := r.Passed
		for _, lane := range r.Lanes {
			ok = ok && (lane.Outcome == Better) == strings.Contains(lane.Name, " m0 ")
		}
		if ok {
			right++
		}
	}
	if right < 95 {
		t.Errorf("got %d of 100 right, want at least 95", right)
	}
}

func TestIdenticalCandidateFailsNobody(t *testing.T) {
	keep.Rule(t, "DEV-11", "T-A2")
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		l, b, _ := world(t, rng, 0)
		r, err := Compare(l, seed, ledger.Held, b, b, nil)
		if err != nil || !r.Passed {
			t.Fatalf("got %+v, %v, want a pass", r, err)
		}
		for _, lane := range r.Lanes {
			if lane.Outcome != NotDistinguished || lane.Difference != 0 {
				t.Errorf("%s: got %s %v, want not distinguished and 0", lane.Name, lane.Outcome, lane.Difference)
			}
		}
		if r, _ := Compare(l, seed, ledger.Held, b, b, m0); r.Passed {
			t.Error("a candidate that promised an improvement and made none passed")
		}
	}
}

// A candidate that moves every figure a little, and none for the better or worse, fails at most
// five times of 100.
func TestNoiseAloneSeldomFails(t *testing.T) {
	rng, failed := rand.New(rand.NewPCG(5, 6)), 0
	for range 100 {
		l, b, c := world(t, rng, 0)
		if r, err := Compare(l, seed, ledger.Held, b, c, nil); err != nil || !r.Passed {
			failed++
		}
	}
	if failed > 5 {
		t.Errorf("got %d of 100 failed, want at most 5", failed)
	}
}

func TestWorseLaneFails(t *testing.T) {
	keep.Rule(t, "VAL-6", "X13")
	l, b, c := world(t, rand.New(rand.NewPCG(3, 4)), -0.03)
	if r, err := Compare(l, seed, ledger.Held, b, c, nil); err != nil || r.Passed || !strings.Contains(r.Why, "m0") {
		t.Errorf("got %+v, %v, want a failure that names lane m0", r, err)
	}
}

func TestSmallLanesAreMergedOrHidden(t *testing.T) {
	keep.Rule(t, "D7", "VAL-6")
	lanes := lanes{{"a", "m"}: make([]pair, 4), {"b", "m"}: make([]pair, 7), {"c", "m"}: make([]pair, 12), {"d", "n"}: make([]pair, 9)}
	for _, g := range merge(lanes) {
		if len(g.pairs) < MinUnits || g.metric == "n" {
			t.Errorf("lane %s of %d units was given out", g.name, len(g.pairs))
		}
	}
}

func TestReadPredictionsRefuses(t *testing.T) {
	keep.Rule(t, "D7", "SUB-12")
	id, id2 := strings.Repeat("a", 64), strings.Repeat("b", 64)
	unit := func(id, rest string) string { return fmt.Sprintf(`{"unit_id":"%s",%s}`, id, rest) }
	file := func(units ...string) string {
		return `{"schema":"blis.predictions/1","build":{},"units":[` + strings.Join(units, ",") + `]}`
	}
	good := `"metrics":{"tpot_mean":0.01}`
	cases := []struct{ name, in, want string }{
		{"accepted", file(unit(id, good), unit(id2, `"reason":"not_in_catalog"`)), ""},
		{"unknown key", file(unit(id, good+`,"role":"held"`)), "role"},
		{"repeated unit", file(unit(id, good), unit(id, good)), "out of order or repeated"},
		{"not an id", file(unit("x", good)), "is not a unit id"},
		{"negative", file(unit(id, `"metrics":{"tpot_mean":-1}`)), "is not a positive finite number"},
		{"largest", file(unit(id, `"metrics":{"tpot_mean":1e9}`)), ""},
		{"too large a figure", file(unit(id, `"metrics":{"tpot_mean":1e300}`)), "is not a positive finite number"},
		{"both", file(unit(id, good+`,"reason":"not_in_catalog"`)), "either metrics or a reason"},
		{"neither", file(unit(id, `"metrics":{}`)), "either metrics or a reason"},
		{"unknown metric", file(unit(id, `"metrics":{"tpot":0.01}`)), "is not a metric"},
		{"unlisted reason", file(unit(id, `"reason":"tired"`)), "is not a reason"},
		{"schema", `{"schema":"x","build":{},"units":[]}`, "is not a predictions file"},
		{"truncated", `{"schema":`, "ends too early"},
		{"too large", strings.Repeat(" ", MaxPredictions+1), "is larger than"},
	}
	for _, c := range cases {
		_, err := ReadPredictions("p.json", strings.NewReader(c.in))
		if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestPredictHandsOverFiguresAlone(t *testing.T) {
	result := &spec.Result{Figures: []spec.Figure{{Metric: "tpot_mean", Scope: "cluster", Value: 0.01}, {Metric: "tpot_mean", Scope: "instance:0", Value: 9}, {Metric: "goodput", Scope: "cluster", Value: 3}}}
	id, id2 := strings.Repeat("a", 64), strings.Repeat("b", 64)
	p := Predict(record.Build{}, []record.Trial{
		{Unit: &ledger.Unit{ID: id2}, Refusal: &record.Refused{Reason: record.NotInCatalog}},
		{Unit: &ledger.Unit{ID: id, Measurements: []ledger.Measurement{{TPOTMeanMS: 5}}}, Result: result},
	})
	b, err := p.Write()
	if err != nil {
		t.Fatal(err)
	}
	again, err := ReadPredictions("p", strings.NewReader(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	if u := again.Units; len(u) != 2 || u[0].UnitID != id || len(u[0].Metrics) != 1 || u[0].Metrics["tpot_mean"] != 0.01 || u[1].Reason != record.NotInCatalog {
		t.Errorf("got %+v, want one figure and one reason, by id", u)
	}
}

func TestPredictionsRoundTrip(t *testing.T) {
	p := &Predictions{Schema: PredictionsSchema, Units: []Prediction{{UnitID: strings.Repeat("a", 64), Reason: record.NotInCatalog}}}
	b, err := p.Write()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPredictions("p", strings.NewReader(string(b))); err != nil {
		t.Error(err)
	}
}

func FuzzReadPredictions(f *testing.F) {
	f.Add(`{"schema":"blis.predictions/1","build":{},"units":[]}`)
	f.Fuzz(func(t *testing.T, s string) { _, _ = ReadPredictions("p", strings.NewReader(s)) })
}

// Whatever figures a candidate hands over, the gate refuses them or gives a report that can be kept.
func FuzzComparePredictions(f *testing.F) {
	l, base, cand := world(f, rand.New(rand.NewPCG(8, 8)), 0)
	f.Add(1.05, uint16(7))
	f.Add(1e300, uint16(0))
	f.Add(5e-324, uint16(199))
	f.Fuzz(func(t *testing.T, value float64, at uint16) {
		c := &Predictions{Schema: PredictionsSchema, Units: slices.Clone(cand.Units)}
		c.Units[int(at)%len(c.Units)].Metrics = map[string]float64{"tpot_mean": value}
		file, err := c.Write()
		if err != nil {
			return // no file holds such a number
		}
		read, err := ReadPredictions("p", strings.NewReader(string(file)))
		if err != nil {
			return
		}
		r, err := Compare(l, seed, ledger.Held, base, read, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := new(Log).Append(&Evaluation{Change: "c", Role: ledger.Held, Report: r}); err != nil {
			t.Errorf("%v at %d: %v", value, at, err)
		}
	})
}
