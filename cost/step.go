package cost

import (
	"github.com/inference-sim/accuracy-dashboard/cost/plan"
	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// Pricer prices the steps of one plan. It implements engines.Pricer, reuses its
// own memory and is not safe for concurrent use.
type Pricer struct {
	plan   *plan.PoolPlan
	over   *overheads
	stages []*stage
	hbm    float64 // bytes a second of the chip
	w      work
}

// stage is the part of a plan one pipeline stage runs.
type stage struct {
	target, draft *program
}

// program is a list of operators, grouped by what of a step they depend on.
type program struct {
	all                         []*entry
	tokens, gathered, sampled   rowwise
	decode, extend, extendWhole []*entry
	launches                    float64 // elementwise and quantise kernels of one pass
	host                        launchCount
}

// rowwise operators depend on one row count alone, so their sum is remembered.
type rowwise struct {
	entries []*entry
	memo    []priced // by rows, as far as asked and up to memoRows
}

// memoRows bounds a memo: no engine runs a step of more rows.
const memoRows = 1 << 18

// priced is a sum of operators and the least trusted method among them.
type priced struct {
	seconds float64
	method  plan.Method
}

func (p *priced) add(seconds float64, m plan.Method) {
	p.seconds += seconds
	p.method = max(p.method, m)
}

func newProgram() *program {
	return &program{}
}

func (pg *program) add(e *entry) {
	pg.all = append(pg.all, e)
	switch e.layer.Primitive {
	case plan.AttentionDecode, plan.MLADecode, plan.RecurrentDecode:
		pg.decode = append(pg.decode, e)
	case plan.AttentionExtend, plan.MLAExtend:
		pg.extend = append(pg.extend, e)
	case plan.RecurrentExtend:
		pg.extendWhole = append(pg.extendWhole, e)
	case plan.SparseIndex:
		pg.decode = append(pg.decode, e)
		pg.extend = append(pg.extend, e)
	case plan.GroupedGEMM:
		pg.gathered.entries = append(pg.gathered.entries, e)
	default:
		pg.rowGroup(e.layer.Shape.Rows).entries = append(pg.rowGroup(e.layer.Shape.Rows).entries, e)
	}
}

func (pg *program) rowGroup(r plan.Rows) *rowwise {
	switch r {
	case plan.RowsSampled:
		return &pg.sampled
	case plan.RowsGathered, plan.RowsExpert:
		return &pg.gathered
	}
	return &pg.tokens
}

// Price is the time of one step of one stage (SUB-6: the padded shape as given).
func (p *Pricer) Price(step *plan.StepShape) plan.StepEstimate {
	device, launches := p.device(step)
	device.seconds = max(device.seconds, float64(launches*p.over.eager.value))
	return p.compose(device, busiest(step))
}

// device is the device time of the slowest rank, and the most kernels a rank's host
// launches one by one because no graph replays them.
func (p *Pricer) device(step *plan.StepShape) (out priced, launches float64) {
	if step.Mode == plan.Prebuilt {
		return out, 0
	}
	st := p.stages[step.Stage]
	for i := range step.Ranks {
		r := p.rank(st, step, i)
		out.seconds = max(out.seconds, r.seconds)
		out.method = max(out.method, r.method)
		launches = max(launches, st.target.host.of(step, i))
	}
	return out, launches
}

// launchCount counts the kernels of a program by when a step launches them.
type launchCount struct {
	always, extend, decode [2]float64 // outside every graph, and inside the piecewise ones
}

func (c *launchCount) add(e *entry) {
	to := &c.always
	switch e.layer.Primitive {
	case plan.AttentionExtend, plan.MLAExtend, plan.RecurrentExtend:
		to = &c.extend
	case plan.AttentionDecode, plan.MLADecode, plan.RecurrentDecode:
		to = &c.decode
	}
	inside := 0
	if e.layer.Captured {
		inside = 1
	}
	to[inside] += float64(e.times * float64(max(1, e.layer.Shape.Launches)))
}

// of is how many kernels the host launches one by one on rank i: none for a step
// without a token, which vLLM's runner answers without a launch
// (vllm/v1/worker/gpu_model_runner.py execute_model; inferred, not on record).
func (c *launchCount) of(step *plan.StepShape, i int) float64 {
	n := 0.0
	add := func(k *[2]float64) {
		n += k[0]
		if step.Padded[i].Launch == plan.Eager {
			n += k[1]
		}
	}
	if step.Padded[i].Launch == plan.FullGraph || step.Padded[i].Tokens == 0 {
		return 0
	}
	add(&c.always)
	if len(step.Ranks[i].Extend) > 0 {
		add(&c.extend)
	}
	if step.Ranks[i].Decode.Seqs > 0 {
		add(&c.decode)
	}
	return n
}

// busiest is the most sequences any rank runs.
func busiest(step *plan.StepShape) float64 {
	n := 0
	for i := range step.Ranks {
		n = max(n, step.Ranks[i].Decode.Seqs+len(step.Ranks[i].Extend))
	}
	return float64(n)
}

// compose adds the host's side to the device's.
func (p *Pricer) compose(device priced, seqs float64) plan.StepEstimate {
	o := p.over
	exposed := device.seconds + o.gap.value + float64(o.sequence.value*seqs)
	host := o.schedule.value + float64(o.prepare.value*seqs) + float64(o.stream.value*seqs)/float64(max(1, p.plan.Host.StreamInterval))
	total := exposed + host
	if p.plan.Host.Overlapped {
		total = max(exposed, host)
	}
	return plan.StepEstimate{
		Total: quantity.Seconds(total), Device: quantity.Seconds(device.seconds), Host: quantity.Seconds(host),
		Method: max(device.method, o.method),
	}
}

// rank is the device time of one rank.
func (p *Pricer) rank(st *stage, step *plan.StepShape, i int) priced {
	p.load(step, i)
	out := st.target.price(&p.w, step.Ranks[i].Extend)
	if step.Drafts.Proposed > 0 && len(st.draft.all) > 0 {
		first := st.draft.price(&p.w, step.Ranks[i].Extend)
		out.add(first.seconds, first.method)
		p.chain(step, i)
		next := st.draft.price(&p.w, nil)
		out.add(float64(next.seconds*float64(p.plan.Drafts.Tokens-1)), next.method)
	}
	return out
}

// load reads one rank of a step into p.w.
func (p *Pricer) load(step *plan.StepShape, i int) {
	r, w := &step.Ranks[i], &p.w
	w.tokens, w.gathered = float64(step.Padded[i].Tokens), 0
	for j := range step.Padded {
		w.gathered += float64(step.Padded[j].Tokens)
	}
	w.sampled = float64(r.Sampled + step.Drafts.Verified)
	w.seqs, w.query, w.attended = float64(r.Decode.Seqs), float64(max(1, r.Decode.Query)), r.Decode.Attended
	w.extendTokens, w.extendSeqs = 0, float64(len(r.Extend))
	for _, c := range r.Extend {
		w.extendTokens += float64(c.Query)
	}
}

// chain turns p.w into a later pass of the drafter: one token a sequence.
func (p *Pricer) chain(step *plan.StepShape, i int) {
	w := &p.w
	w.tokens, w.gathered = float64(step.Padded[i].Seqs), 0
	for j := range step.Padded {
		w.gathered += float64(step.Padded[j].Seqs)
	}
	w.query, w.sampled, w.extendTokens, w.extendSeqs = 1, float64(step.Ranks[i].Sampled), 0, 0
}

func (pg *program) price(w *work, chunks []plan.Chunk) priced {
	out := priced{}
	w.chunk = plan.Chunk{}
	pg.tokens.price(w, int(w.tokens), &out)
	pg.gathered.price(w, int(w.gathered), &out)
	pg.sampled.price(w, int(w.sampled), &out)
	if w.seqs > 0 {
		for _, e := range pg.decode {
			e.priceDecode(w, &out)
		}
	}
	if w.extendTokens > 0 {
		for _, e := range pg.extendWhole {
			e.price(w, &out)
		}
		for _, w.chunk = range chunks {
			for _, e := range pg.extend {
				e.price(w, &out)
			}
		}
	}
	return out
}

func (e *entry) price(w *work, out *priced) {
	seconds, inside := e.op.call(w, &w.point)
	out.add(float64(e.times*seconds), e.method)
	if !inside {
		out.method = max(out.method, plan.Transferred) // extrapolated (VAL-3)
	}
}

// decodeSize is all of a step that the time of its decodes depends on.
type decodeSize struct {
	attended    int64
	seqs, query int32
}

// decodePrice is a price and the size it is of.
type decodePrice struct {
	size decodeSize
	priced
}

// decodeSlots is how many prices an entry remembers: instances of one plan, and a load
// that has settled, come back to sizes they had a moment ago, and what is older is not
// worth the cache it takes.
const decodeSlots = 1 << 9

// slot spreads sizes that follow each other over different slots.
func (s *decodeSize) slot() int {
	return int((uint64(s.attended) + uint64(s.seqs)*0x9E3779B1) % decodeSlots)
}

// priceDecode remembers prices by size; the newest of a slot stays.
func (e *entry) priceDecode(w *work, out *priced) {
	size := decodeSize{seqs: int32(w.seqs), query: int32(w.query)}
	if g := e.layer.Shape.KVGroup; g < len(w.attended) {
		size.attended = w.attended[g]
	}
	if e.decodes == nil {
		e.decodes = make([]decodePrice, decodeSlots)
	}
	known := &e.decodes[size.slot()]
	if size != known.size {
		*known = decodePrice{size: size}
		e.price(w, &known.priced)
	}
	out.add(known.seconds, known.method)
}

// price adds the operators' time over count rows.
func (g *rowwise) price(w *work, count int, out *priced) {
	if count == 0 || len(g.entries) == 0 {
		return
	}
	if count < len(g.memo) && g.memo[count].method != plan.NoMethod {
		out.add(g.memo[count].seconds, g.memo[count].method)
		return
	}
	var p priced
	for _, e := range g.entries {
		e.price(w, &p)
	}
	out.add(p.seconds, p.method)
	if count < memoRows {
		if n := count + 1 - len(g.memo); n > 0 {
			g.memo = append(g.memo, make([]priced, n)...)
		}
		g.memo[count] = p
	}
}
