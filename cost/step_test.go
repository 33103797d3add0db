package cost_test

import (
	"math"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/registry"
)

// TestPartsAddUpToThePrice: what Explain lists is all of Price, part by part.
func TestPartsAddUpToThePrice(t *testing.T) {
	keep.Rule(t, "VAL-3")
	for name, edit := range map[string]func(p *plan.PoolPlan){
		"overlapped": func(*plan.PoolPlan) {},
		"serial":     func(p *plan.PoolPlan) { p.Host.Overlapped = false },
	} {
		p := poolPlan()
		edit(p)
		pr := compile(t, model(t, "h200_sxm"), p)
		mixed := extendStep(512, 1024)
		mixed.Ranks[0].Decode = decodeStep(32, 4000).Ranks[0].Decode
		for _, step := range []plan.StepShape{decodeStep(64, 8192), extendStep(2048, 0), extendStep(16, 0), mixed, idleStep()} {
			sum := 0.0
			for _, part := range pr.Explain(&step) {
				sum += float64(part.Seconds)
				if part.Low > part.Seconds || part.High < part.Seconds {
					t.Errorf("%s: %s: interval [%v, %v] leaves out %v", name, part.Name, part.Low, part.High, part.Seconds)
				}
			}
			if got, want := sum, float64(pr.Price(&step).Total); math.Abs(got-want) > 1e-9*want {
				t.Errorf("%s: %+v: parts add up to %v, want %v", name, step.Ranks[0], got, want)
			}
		}
	}
}

func idleStep() plan.StepShape {
	return plan.StepShape{Mode: plan.Idle, Ranks: make([]plan.RankStep, 1), Padded: make([]plan.PaddedShape, 1)}
}

// A step without a token launches no kernel, though no graph replays it.
func TestAStepWithoutATokenLaunchesNothing(t *testing.T) {
	pr := compile(t, model(t, "h200_sxm"), poolPlan())
	idle, decode := idleStep(), decodeStep(1, 100)
	if got, most := pr.Price(&idle), pr.Price(&decode); got.Device != 0 || got.Total >= most.Total {
		t.Errorf("got %+v, want no device time and less than a decode's %+v", got, most)
	}
}

// TestPriceKeepsItsValue: remembered sums equal computed ones.
func TestPriceKeepsItsValue(t *testing.T) {
	pr := compile(t, model(t, "h200_sxm"), poolPlan())
	step := decodeStep(64, 8192)
	first := pr.Price(&step)
	other := extendStep(2048, 512)
	pr.Price(&other)
	if got := pr.Price(&step); got != first {
		t.Errorf("got %+v, want %+v", got, first)
	}
}

// TestDecodePhysics: a decode step reads at least the weights and the cache once.
func TestDecodePhysics(t *testing.T) {
	keep.Rule(t, "SUB-5")
	pr := compile(t, model(t, "h200_sxm"), poolPlan())
	step := decodeStep(64, 8192)
	got := float64(pr.Price(&step).Device)
	cache := 64 * 8192 * 2 * 2 * 64 * 4 * 18.0
	if floor := cache / 4.8e12; got < floor {
		t.Errorf("got %v, want at least %v", got, floor)
	}
	if got > 50e-3 {
		t.Errorf("got %v, want milliseconds", got)
	}
}

// What a pricer remembers never shows: a decode costs what a fresh pricer says, whatever
// was priced before.
func TestDecodePricesDoNotDependOnThePast(t *testing.T) {
	kept := compile(t, model(t, "h200_sxm"), poolPlan())
	for _, seqs := range []int{64, 3, 64, 65} {
		for _, context := range []int{8192, 100, 8192, 8192 + 64} {
			step := decodeStep(seqs, context)
			if got, want := kept.Price(&step), compile(t, model(t, "h200_sxm"), poolPlan()).Price(&step); got != want {
				t.Errorf("%d sequences of %d: got %v, want %v", seqs, context, got, want)
			}
		}
	}
}

func BenchmarkPriceDecode(b *testing.B) {
	pr := compile(b, model(b, "h200_sxm"), poolPlan())
	step := decodeStep(64, 8192)
	b.ReportAllocs()
	for b.Loop() {
		step.Ranks[0].Decode.Attended[0] += 64
		pr.Price(&step)
	}
}

func BenchmarkPriceMixed(b *testing.B) {
	pr := compile(b, model(b, "h200_sxm"), poolPlan())
	step := extendStep(2048, 512)
	step.Ranks[0].Decode = decodeStep(32, 4000).Ranks[0].Decode
	b.ReportAllocs()
	for b.Loop() {
		pr.Price(&step)
	}
}

// TestSensitivityIsTheDerivative compares with prices at a slightly larger cost.
func TestSensitivityIsTheDerivative(t *testing.T) {
	for name, step := range map[string]plan.StepShape{"replayed": decodeStep(64, 8192), "launch-bound": extendStep(64, 0), "device-bound": extendStep(16384, 0)} {
		before := compile(t, model(t, "h200_sxm"), poolPlan())
		s := before.Sensitivity(&step)
		for p, want := range map[plan.Primitive]float64{
			registry.HostStep: s.Steps, registry.HostSequence: s.Sequences, registry.HostLaunch: s.HostLaunches, registry.StreamLaunch: s.StreamLaunches,
		} {
			c := scalars[p]
			const more = 1e-9
			scalars[p] = struct {
				value float64
				unit  string
			}{c.value + more, c.unit}
			after := compile(t, model(t, "h200_sxm"), poolPlan())
			scalars[p] = c
			got := float64(after.Price(&step).Total-before.Price(&step).Total) / more
			if math.Abs(got-want) > 1e-3*(1+want) {
				t.Errorf("%s, %s: price moves by %v, Sensitivity says %v", name, p, got, want)
			}
		}
	}
}
