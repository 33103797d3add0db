package scorer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// rule is one grade condition (§11.3). It applies its grade when it does not hold.
// A condition the data cannot decide does not hold, and its detail says so.
type rule struct {
	grade record.Grade
	name  string
	holds func(*record.Trial, EngineBuild) (bool, string)
}

// rules lists every condition below G5, least close first. What breaks several
// takes the least close grade.
var rules = []rule{
	{record.G4, "the build is a release, or the simulated build itself", isRelease},
	{record.G4, "no ported upstream function changed since the run's build", portedSame},
	{record.G3, "the run's engine release is the simulated one", sameRelease},
	{record.G2, "every setting the run passed is modelled or inert", settingsModelled},
	{record.G2, "every modelled setting has a value its evidence covers", valuesCovered},
	{record.G2, "nothing was estimated", nothingEstimated},
	{record.G2, "logged resolved values equal the engine port's", resolvedAgree},
	{record.G2, "recorded library versions map to the priced kernels", kernelsKnown},
	{record.G2, "every coefficient is measured or calibrated, none extrapolated or unidentified", coefficientsTrusted},
	{record.G2, "the simulated requests are the ones the run sent", requestsExact},
}

// recorded are rules that only a run which recorded the thing raises: a source
// without it is no further from the simulation than its frame already says.
var recorded = []rule{
	{record.G2, "the achieved concurrency is the simulated one", concurrencyReached},
	{record.G2, "the tokens the client counted are the simulated ones", tokensEqual},
}

// conditions evaluates every rule on a scored trial.
func conditions(t *record.Trial, b EngineBuild) []record.Condition {
	list := rules
	if t.Unit.Measurements[0].Totals != nil {
		list = slices.Concat(rules, recorded)
	}
	out := make([]record.Condition, len(list))
	for i, r := range list {
		held, detail := r.holds(t, b)
		out[i] = record.Condition{Grade: r.grade, Name: r.name, Held: held, Detail: detail}
	}
	return out
}

// grade is the least close grade whose condition does not hold.
func grade(conditions []record.Condition) record.Grade {
	g := record.G1
	for _, c := range conditions {
		if !c.Held && c.Grade > g {
			g = c.Grade
		}
	}
	return g
}

func isRelease(t *record.Trial, b EngineBuild) (bool, string) {
	if same, _ := sameRelease(t, b); same {
		return true, "the simulated build itself"
	}
	return b.Kind == ReleaseBuild, fmt.Sprintf("%s build %s", b.Kind, b.Version)
}

func portedSame(t *record.Trial, b EngineBuild) (bool, string) {
	if same, _ := sameRelease(t, b); same {
		return true, "same build"
	}
	if t.Changed == nil {
		return false, fmt.Sprintf("no function-level comparison of %s with %s exists", b.Version, t.Simulated)
	}
	return len(*t.Changed) == 0, strings.Join(*t.Changed, ", ")
}

// sameRelease compares a release by its number, a nightly by its commit.
func sameRelease(t *record.Trial, b EngineBuild) (bool, string) {
	detail := fmt.Sprintf("run on %s, simulated as %s", b.Version, t.Simulated)
	if commit, ok := strings.CutPrefix(t.Simulated, "main-"); ok {
		return b.Kind == NightlyBuild && (strings.HasPrefix(b.Version, commit) || strings.HasPrefix(commit, b.Version)), detail
	}
	return b.Kind == ReleaseBuild && b.Version == t.Simulated, detail
}

func settingsModelled(t *record.Trial, _ EngineBuild) (bool, string) {
	return none(t.Settings, func(s record.Setting) string {
		if s.Stage != "passed" || s.Status == fields.Modelled || s.Status == fields.Inert { // what an engine resolved is no setting the run made
			return ""
		}
		return fmt.Sprintf("%s=%s is %s", s.Name, s.Recorded, s.Status)
	})
}

func valuesCovered(t *record.Trial, _ EngineBuild) (bool, string) {
	return none(t.Settings, func(s record.Setting) string {
		if s.Status != fields.Modelled || s.Covered {
			return ""
		}
		return s.Name + "=" + s.Recorded
	})
}

func nothingEstimated(t *record.Trial, _ EngineBuild) (bool, string) {
	return none(t.Estimates, func(e record.Estimate) string {
		if e.Exact {
			return ""
		}
		return fmt.Sprintf("%s %s: %s", e.Field, e.Recorded, e.Reason)
	})
}

// resolvedAgree does not hold for a run that logged no value of a setting the engine port
// resolves, nor where the port shows none beside the logged one: neither was compared.
func resolvedAgree(t *record.Trial, _ EngineBuild) (bool, string) {
	compared := 0
	agree, detail := none(t.Settings, func(s record.Setting) string {
		switch {
		case s.Logged == "" || s.Status != fields.Modelled && s.Resolved == "": // what the port does not model it does not resolve
			return ""
		case s.Resolved == "":
			return fmt.Sprintf("%s: logged %s, the engine port shows no value", s.Name, s.Logged)
		}
		compared++
		if s.Resolved == s.Logged {
			return ""
		}
		return fmt.Sprintf("%s: logged %s, resolved %s", s.Name, s.Logged, s.Resolved)
	})
	if agree && compared == 0 {
		return false, "the run logs no resolved values"
	}
	return agree, detail
}

// kernelsKnown does not hold for a run that recorded no library version, nor for a version
// whose kernels were not compared: what the data cannot decide is not assumed.
func kernelsKnown(t *record.Trial, _ EngineBuild) (bool, string) {
	if len(t.Libraries) == 0 {
		return false, "the run records no library versions"
	}
	return none(t.Libraries, func(l record.Library) string {
		switch {
		case l.Priced == nil:
			return l.Name + " " + l.Version + ": not compared, since the coefficients name no kernel hash"
		case *l.Priced:
			return ""
		}
		return l.Name + " " + l.Version + ": another kernel is priced"
	})
}

func coefficientsTrusted(t *record.Trial, _ EngineBuild) (bool, string) {
	var less []string
	for _, m := range t.Result.Methods {
		if m.Method != plan.Measured.String() && m.Method != plan.Calibrated.String() {
			less = append(less, fmt.Sprintf("%s prices %.1f%% of step time", m.Method, 100*m.Share))
		}
	}
	return len(less) == 0, strings.Join(less, "; ")
}

// requestsExact holds when the client's differences are none and as many requests ended as the
// run's client sent (COV-12).
func requestsExact(t *record.Trial, _ EngineBuild) (bool, string) {
	said := t.Client
	if c, _ := t.Unit.RecordedConfiguration(); c != nil && c.Client != nil && c.Client.NumPrompts != nil {
		if got := t.Result.Requests.Measured.Completed; got != int64(*c.Client.NumPrompts) {
			said = append(slices.Clone(said), fmt.Sprintf("the client sent %d requests, %d were simulated to their end", *c.Client.NumPrompts, got))
		}
	}
	return len(said) == 0, strings.Join(said, "; ")
}

func concurrencyReached(t *record.Trial, _ EngineBuild) (bool, string) {
	a := achieved(t)
	if a == nil {
		return false, "the achieved concurrency is not recorded"
	}
	return a.Within, fmt.Sprintf("achieved concurrency %.2f measured, %.2f simulated, tolerance %.0f%%", a.Measured, a.Simulated, 100*a.Tolerance)
}

// tokensEqual compares what the client counted, request by request drawn by the same
// generator, so that any difference is a difference of the requests (COV-12).
func tokensEqual(t *record.Trial, _ EngineBuild) (bool, string) {
	got := t.Result.Requests
	return none(t.Unit.Measurements, func(m ledger.Measurement) string {
		switch {
		case m.Totals == nil:
			return "token totals are not recorded for every measurement"
		case m.Totals.PromptTokens != got.PromptTokens || m.Totals.OutputTokens != got.OutputTokens:
			return fmt.Sprintf("the client counted %d prompt and %d output tokens, simulated %d and %d", m.Totals.PromptTokens, m.Totals.OutputTokens, got.PromptTokens, got.OutputTokens)
		}
		return ""
	})
}

// none holds when say finds nothing to say of any element.
func none[T any](list []T, say func(T) string) (bool, string) {
	var said []string
	for _, x := range list {
		if s := say(x); s != "" {
			said = append(said, s)
		}
	}
	return len(said) == 0, strings.Join(said, "; ")
}

// differences lists, for people, what each broken condition names.
func differences(conditions []record.Condition) []string {
	out := []string{}
	for _, c := range conditions {
		if !c.Held {
			out = append(out, c.Detail)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// borrowed names each acceptance profile that was measured with another key than the
// run's. The run's own value is not recorded, so none of this is an estimate in the
// sense of §11.2 (D8).
func borrowed(t *record.Trial) []string {
	var out []string
	for _, u := range t.Result.Inputs.Acceptance {
		if u.Step != "exact" && u.Step != "stated" {
			out = append(out, fmt.Sprintf("speculative acceptance borrowed by step %s: %s", u.Step, strings.Join(u.Differs, ", ")))
		}
	}
	return out
}
