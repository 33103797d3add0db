package spec

import (
	"fmt"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/fmath"
)

func (w *Workload) defaults() {
	if x := w.InferenceX; x != nil && x.Warmups == nil {
		n := 1
		if x.Release == ClientInferenceX {
			n = 2 * x.Concurrency
		}
		x.Warmups = &n
	}
	if t := w.Trace; t != nil && t.Scale == 0 {
		t.Scale = 1
	}
}

func (a *Acceptance) check() error {
	const at = "workload.acceptance"
	if a == nil {
		return nil
	}
	keys := map[string]bool{"profile": a.Profile != "", "per_position": len(a.PerPosition) > 0}
	if err := exactlyOne(at, keys, []string{"profile", "per_position"}); err != nil {
		return err
	}
	for i, p := range a.PerPosition {
		if err := share(fmt.Sprintf("%s.per_position[%d]", at, i), p); err != nil {
			return err
		}
	}
	return nil
}

func (w *Workload) check() error {
	kinds := map[string]bool{"inferencex": w.InferenceX != nil, "clients": len(w.Clients) > 0, "trace": w.Trace != nil}
	if err := exactlyOne("workload", kinds, []string{"inferencex", "clients", "trace"}); err != nil {
		return err
	}
	if err := w.Acceptance.check(); err != nil {
		return err
	}
	if n := len(w.Clients); n > maxClients {
		return refuse("workload.clients", fmt.Sprint(n), "are too many", fmt.Sprintf("1 to %d clients", maxClients))
	}
	names, goals := map[string]bool{}, Goals{}
	for i := range w.Clients {
		c, at := &w.Clients[i], fmt.Sprintf("workload.clients[%d]", i)
		if names[c.Name] {
			return refuse(at+".name", c.Name, "repeats another client's name", "a name of its own")
		}
		names[c.Name] = true
		if err := c.check(at); err != nil {
			return err
		}
		if err := goals.Add(at+".objectives", c.Class, c.Goal); err != nil {
			return err
		}
	}
	if t := w.Trace; t != nil {
		return first(required("workload.trace.path", t.Path), CheckScale("workload.trace.scale", t.Scale))
	}
	if w.InferenceX != nil {
		return w.InferenceX.check()
	}
	return nil
}

// Goals are the objectives of the classes of a workload's clients.
type Goals map[string]Objectives

// Add checks the objectives that a client of class states at a field: those of one class
// are the same, since they are the class's.
func (g Goals) Add(at, class string, o Objectives) error {
	if err := first(spanSeconds.check(at+".ttft", o.TTFT), spanSeconds.check(at+".tpot", o.TPOT), spanSeconds.check(at+".e2e", o.E2E)); err != nil {
		return err
	}
	if other, ok := g[class]; ok && other != o && class != "" {
		return refuse(at, o.String(), "are not those of another client of class "+class, other.String())
	}
	g[class] = o
	return nil
}

// String is the objectives as a scenario states them.
func (o Objectives) String() string {
	return fmt.Sprintf("{ttft: %v, tpot: %v, e2e: %v}", o.TTFT, o.TPOT, o.E2E)
}

func (x *InferenceX) check() error {
	const at = "workload.inferencex."
	err := first(
		oneOf(at+"release", x.Release, ClientReleases()),
		within(at+"isl", x.ISL, 1, MaxTokens), within(at+"osl", x.OSL, 1, MaxTokens),
		share(at+"range_ratio", x.RangeRatio),
		within(at+"num_prompts", x.Prompts, 1, MaxCount), within(at+"concurrency", x.Concurrency, 1, MaxConcurrency),
		within(at+"warmups", *x.Warmups, 0, 1<<24), within(at+"vocab_size", x.VocabSize, 0, 1<<31-1),
	)
	if t := x.Template; err == nil && t != nil {
		err = first(within(at+"chat_template.subtract", t.Subtract, 0, x.ISL-1), within(at+"chat_template.add", t.Add, 0, 1<<20))
	}
	if err != nil {
		return err
	}
	nominal, added := x.ISL, 0
	if t := x.Template; t != nil {
		nominal, added = nominal-t.Subtract, t.Add
	}
	if x.Least(x.OSL) < 1 || x.Least(nominal)+added < 1 {
		return refuse(at+"range_ratio", fmt.Sprint(x.RangeRatio), fmt.Sprintf("draws prompts from %d and outputs from %d tokens: the client sends such a request, and a server refuses an empty prompt and max_tokens: 0",
			x.Least(nominal)+added, x.Least(x.OSL)), fmt.Sprintf("a ratio that leaves a token of %d and of %d", nominal, x.OSL))
	}
	return nil
}

// leastDeadline is a microsecond, in seconds: a shorter one would round to none.
const leastDeadline = 1e-6

func (c *Client) check(at string) error {
	if err := first(required(at+".name", c.Name), c.Arrivals.check(at+".arrivals"), within(at+".requests", c.Requests, 0, MaxCount),
		spanSeconds.check(at+".deadline", c.Deadline), within(at+".max_tokens", c.MaxTokens, 0, MaxTokens)); err != nil {
		return err
	}
	if c.Deadline > 0 && c.Deadline < leastDeadline {
		return refuse(at+".deadline", fmt.Sprint(c.Deadline), "is shorter than time is counted in", "0 for none, or 1e-06 seconds and more")
	}
	if err := c.checkLengths(at); err != nil {
		return err
	}
	total := 0.0
	for i, p := range c.Prefixes {
		f := fmt.Sprintf("%s.prefixes[%d]", at, i)
		if err := first(required(f+".name", p.Name), within(f+".tokens", p.Tokens, 1, MaxTokens), share(f+".share", p.Share),
			p.Prompt.check(f+".prompt", spanTokens), p.Output.check(f+".output", spanTokens)); err != nil {
			return err
		}
		if len(c.Joint) > 0 && (p.Prompt != nil || p.Output != nil) {
			return refuse(f, p.Name, "states lengths beside joint, which states every request's", "prompt and output in place of joint, or a prefix without lengths")
		}
		total += p.Share
	}
	if total > 1+1e-9 {
		return refuse(at+".prefixes", fmt.Sprint(total), "shares add up to more than 1", "a total of 1 or less")
	}
	if s := c.Session; s != nil {
		return first(s.Rounds.check(at+".session.rounds", spanRounds), s.Think.check(at+".session.think", spanSeconds))
	}
	return nil
}

func (c *Client) checkLengths(at string) error {
	if len(c.Joint) == 0 {
		if c.JointSource != "" {
			return refuse(at+".joint_source", c.JointSource, "stands without joint", "the source key of prompt and output")
		}
		if c.Prompt == nil || c.Output == nil {
			return refuse(at, "", "states no lengths", "prompt and output, or joint")
		}
		return first(c.Prompt.check(at+".prompt", spanTokens), c.Output.check(at+".output", spanTokens))
	}
	if c.Prompt != nil || c.Output != nil {
		return refuse(at+".joint", "", "stands beside prompt or output", "joint alone, or prompt and output")
	}
	for i, p := range c.Joint {
		f := fmt.Sprintf("%s.joint[%d]", at, i)
		if err := first(within(f+".prompt", p.Prompt, 1, MaxTokens), within(f+".output", p.Output, 1, MaxTokens), spanRatio.check(f+".weight", p.Weight)); err != nil {
			return err
		}
	}
	return nil
}

func (a *Arrivals) check(at string) error {
	names := []string{"poisson", "gamma", "weibull", "constant", "closed"}
	set := map[string]bool{"closed": a.Closed != nil}
	for i, p := range []*Process{a.Poisson, a.Gamma, a.Weibull, a.Constant} {
		set[names[i]] = p != nil
		if p != nil {
			if err := p.check(at+"."+names[i], i == 1 || i == 2); err != nil {
				return err
			}
		}
	}
	if err := exactlyOne(at, set, names); err != nil || a.Closed == nil {
		return err
	}
	return first(within(at+".closed.concurrency", a.Closed.Concurrency, 1, MaxConcurrency), a.Closed.Think.check(at+".closed.think", spanSeconds))
}

func (p *Process) check(at string, shaped bool) error {
	if err := spanRatio.check(at+".rate", p.Rate); err != nil {
		return err
	}
	if shaped {
		if err := spanShape.check(at+".shape", p.Shape); err != nil {
			return err
		}
	} else if p.Shape != 0 {
		return refuse(at+".shape", fmt.Sprint(p.Shape), "has no meaning here", "gamma or weibull")
	}
	last := 0.0
	for i, w := range p.Windows {
		f := fmt.Sprintf("%s.windows[%d]", at, i)
		if err := first(spanSeconds.from(last).check(f+".start", w.Start), above(f+".end", w.End, w.Start), spanSeconds.check(f+".end", w.End), spanFactor.check(f+".factor", w.Factor)); err != nil {
			return err
		}
		last = w.End
	}
	return nil
}

// check accepts nil: the distribution is then not stated. limits is the range of
// what it may give.
func (d *Distribution) check(at string, limits span) error {
	if d == nil {
		return nil
	}
	set := map[string]bool{"fixed": d.Fixed != nil, "uniform": d.Uniform != nil, "normal": d.Normal != nil,
		"lognormal": d.LogNormal != nil, "exponential": d.Exp != nil, "empirical": d.Empirical != nil}
	if err := exactlyOne(at, set, []string{"fixed", "uniform", "normal", "lognormal", "exponential", "empirical"}); err != nil {
		return err
	}
	switch {
	case d.Fixed != nil:
		return limits.one(at+".fixed", *d.Fixed)
	case d.Uniform != nil:
		return first(limits.one(at+".uniform.min", d.Uniform.Min), limits.from(d.Uniform.Min).one(at+".uniform.max", d.Uniform.Max))
	case d.Normal != nil:
		return d.Normal.check(at+".normal", limits)
	case d.LogNormal != nil:
		return d.LogNormal.checkLogarithm(at+".lognormal", limits)
	case d.Exp != nil:
		return limits.from(leastRatio).check(at+".exponential.mean", d.Exp.Mean)
	}
	return d.Empirical.check(at+".empirical", limits)
}

// check refuses a range so far from the mean that drawing again would not end.
func (n *Normal) check(at string, limits span) error {
	of := span{-limits.high, limits.high, false}
	err := first(of.check(at+".mean", n.Mean), of.from(0).check(at+".std", n.Std), n.checkRange(at, limits))
	if err != nil {
		return err
	}
	if slack := 3 * n.Std; n.Min > n.Mean+slack || n.Max < n.Mean-slack {
		return refuse(at, fmt.Sprintf("%v..%v", n.Min, n.Max), "lies more than three standard deviations from the mean", "a range around the mean")
	}
	return nil
}

func (n *Normal) checkRange(at string, limits span) error {
	return first(limits.check(at+".min", n.Min), limits.from(n.Min).check(at+".max", n.Max))
}

// checkLogarithm is check where mean and deviation are of the logarithm. Those of the value
// itself, stated by mistake, are outside the range's logarithms.
func (n *Normal) checkLogarithm(at string, limits span) error {
	if err := first(n.checkRange(at, limits), above(at+".max", n.Max, n.Min)); err != nil {
		return err
	}
	low, high := spanLogarithm.low, fmath.Log(n.Max)
	if n.Min > 0 {
		low = fmath.Log(n.Min)
	}
	if !(n.Mean >= low && n.Mean <= high) {
		return refuse(at+".mean", number(n.Mean), "is the mean of the logarithm, and outside the logarithms of min and max",
			fmt.Sprintf("%.3g to %.3g; a value of mean m and deviation s has std = sqrt(ln(1 + (s/m)^2)) and mean = ln(m) - std^2/2", low, high))
	}
	return spanLogarithm.from(0).check(at+".std", n.Std)
}

func (e *Empirical) check(at string, limits span) error {
	if len(e.Values) == 0 {
		return refuse(at+".values", "", "is empty", "one value or more")
	}
	if len(e.Weights) != 0 && len(e.Weights) != len(e.Values) {
		return refuse(at+".weights", fmt.Sprint(len(e.Weights)), "does not match the number of values", fmt.Sprint(len(e.Values)))
	}
	total := 0.0
	for i, v := range e.Values {
		if err := limits.one(fmt.Sprintf("%s.values[%d]", at, i), v); err != nil {
			return err
		}
		if len(e.Weights) > 0 {
			if err := spanFactor.check(fmt.Sprintf("%s.weights[%d]", at, i), e.Weights[i]); err != nil {
				return err
			}
			total += e.Weights[i]
		}
	}
	if len(e.Weights) > 0 && total == 0 {
		return refuse(at+".weights", fmt.Sprint(total), "add up to nothing", "a positive total")
	}
	return nil
}

func exactlyOne(field string, set map[string]bool, names []string) error {
	var stated []string
	for _, n := range names {
		if set[n] {
			stated = append(stated, n)
		}
	}
	switch len(stated) {
	case 1:
		return nil
	case 0:
		return refuse(field, "", "states no kind", "exactly one of: "+strings.Join(names, ", "))
	}
	return refuse(field, strings.Join(stated, " and "), "states more than one kind", "exactly one of: "+strings.Join(names, ", "))
}
