package workload

import (
	"fmt"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/substream"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// New builds one source a client, and what a trace says of each.
func New(clients []spec.Client, seed uint64) ([]Source, []TraceClient) {
	sources, headers := make([]Source, len(clients)), make([]TraceClient, len(clients))
	for i := range clients {
		c := &clients[i]
		headers[i] = TraceClient{Class: c.Class, Tenant: c.Tenant, Goal: c.Goal}
		if k := c.Arrivals.Closed; k != nil {
			headers[i].Concurrency = k.Concurrency
		}
		body := newContent(c, i, seed)
		switch {
		case c.Session != nil:
			sources[i] = newConversations(c, body, seed)
		case c.Arrivals.Closed != nil:
			sources[i] = newClosed(c, body, seed)
		default:
			sources[i] = newOpen(c, body, seed)
		}
		headers[i].Requests = sources[i].Left()
	}
	return sources, headers
}

// Random is whether any client draws.
func Random(clients []spec.Client) bool {
	for i := range clients {
		c := &clients[i]
		a := &c.Arrivals
		if a.Closed == nil && a.Constant == nil || a.Closed != nil && random(a.Closed.Think) || randomContent(c) ||
			c.Session != nil && (random(&c.Session.Rounds) || random(c.Session.Think)) {
			return true
		}
	}
	return false
}

// randomContent is whether what a client's requests hold is drawn.
func randomContent(c *spec.Client) bool {
	return len(c.Joint) > 1 || random(c.Prompt) || random(c.Output) || len(c.Prefixes) > 1 || len(c.Prefixes) == 1 && c.Prefixes[0].Share < 1 ||
		slices.ContainsFunc(c.Prefixes, func(p spec.Prefix) bool { return random(p.Prompt) || random(p.Output) })
}

// component names a client in its substreams.
func component(c *spec.Client) string { return fmt.Sprintf("client %s", c.Name) }

// content draws what one client's requests hold.
type content struct {
	client         *spec.Client
	index          int
	prompt, output *sampler
	joint          []float64 // cumulative weights
	pairs          substream.Family
	prefixes       []prefix
	shares         []float64 // cumulative
	choice         substream.Family
	segments       []Segment // scratch
}

type prefix struct {
	tokens         int
	stream         uint64
	prompt, output *sampler
}

func newContent(c *spec.Client, index int, seed uint64) *content {
	name := component(c)
	b := &content{client: c, index: index, prompt: newSampler(c.Prompt, seed, name, "prompt length"), output: newSampler(c.Output, seed, name, "output length"),
		pairs: substream.New(seed, name, "length pair"), choice: substream.New(seed, name, "prefix")}
	total := 0.0
	for _, p := range c.Joint {
		total += p.Weight
		b.joint = append(b.joint, total)
	}
	total = 0
	for i := range c.Prefixes {
		p := &c.Prefixes[i]
		total += p.Share
		b.shares = append(b.shares, total)
		q := prefix{tokens: p.Tokens, stream: streamID(prefixStream, index, int64(i)), prompt: b.prompt, output: b.output}
		if p.Prompt != nil {
			q.prompt = newSampler(p.Prompt, seed, name, "prompt length of prefix "+p.Name)
		}
		if p.Output != nil {
			q.output = newSampler(p.Output, seed, name, "output length of prefix "+p.Name)
		}
		b.prefixes = append(b.prefixes, q)
	}
	return b
}

// lengths draws the new prompt tokens and the output of an entity.
func (b *content) lengths(entity int64, p *prefix) (prompt, output int) {
	if b.joint != nil {
		g := b.pairs.At(uint64(entity))
		pair := b.client.Joint[pick(b.joint, g.Float64())]
		return pair.Prompt, pair.Output
	}
	if p != nil {
		return p.prompt.tokens(entity), p.output.tokens(entity)
	}
	return b.prompt.tokens(entity), b.output.tokens(entity)
}

// shared draws the prefix of an entity, nil for none.
func (b *content) shared(entity int64) *prefix {
	if len(b.prefixes) == 0 {
		return nil
	}
	g := b.choice.At(uint64(entity))
	u := g.Float64()
	for i, s := range b.shares {
		if u < s {
			return &b.prefixes[i]
		}
	}
	return nil
}

// fill makes request number n of the client, without a session.
func (b *content) fill(n int64, r *Request) {
	p := b.shared(n)
	prompt, output := b.lengths(n, p)
	b.segments = b.segments[:0]
	if p != nil {
		b.segments = append(b.segments, Segment{Stream: p.stream, Count: p.tokens})
	}
	b.segments = append(b.segments, Segment{Stream: PromptStream(b.index, n), Count: prompt})
	b.state(r, n, output)
	r.Session, r.Prompt = -1, b.segments
}

// state sets what does not depend on the prompt.
func (b *content) state(r *Request, n int64, output int) {
	c := b.client
	*r = Request{Index: n, Output: Segment{Stream: OutputStream(b.index, n)}, Length: output, MaxTokens: output, Label: b.index,
		Priority: c.Priority, Deadline: Microseconds(c.Deadline)}
	if c.MaxTokens > 0 {
		r.MaxTokens = c.MaxTokens
		r.Length = min(output, c.MaxTokens)
	}
}

// left is what a client of limit requests (0 is none) has to send after sent.
func left(limit int, sent int64) int64 {
	if limit == 0 {
		return -1
	}
	return int64(limit) - sent
}

// open sends at the times of a renewal process.
type open struct {
	*content
	process *process
	sent    int64
	due     int64
}

func newOpen(c *spec.Client, b *content, seed uint64) *open {
	o := &open{content: b, process: newProcess(&c.Arrivals, seed, component(c))}
	o.due = Microseconds(o.process.next())
	return o
}

// Due is the next arrival.
func (o *open) Due() int64 {
	if o.Left() == 0 {
		return Never
	}
	return o.due
}

// Take sends it.
func (o *open) Take(_ int64, r *Request) {
	o.fill(o.sent, r)
	r.Cause = Cause{Kind: AtTime, Wait: o.due}
	o.sent++
	o.due = Microseconds(o.process.next())
}

// Ended changes nothing: the loop is open.
func (o *open) Ended(int64, End) {}

// Left counts the client's own bound.
func (o *open) Left() int64 { return left(o.client.Requests, o.sent) }

// closed keeps a number of requests outstanding, each followed by another after a
// time to think. Which end a request follows is fixed, so its inputs are its own
// however long the others take: with a time to think, requests may overtake each other.
type closed struct {
	*content
	think *sampler
	ready timers // requests whose time is known
	sent  int64
	ended int64
}

func newClosed(c *spec.Client, b *content, seed uint64) *closed {
	k := &closed{content: b, think: newSampler(c.Arrivals.Closed.Think, seed, component(c), "think time")}
	for n := range int64(c.Arrivals.Closed.Concurrency) {
		k.plan(0, n)
	}
	return k
}

// plan has request n sent at a time, unless it is beyond the client's bound.
func (k *closed) plan(at, n int64) {
	if limit := int64(k.client.Requests); limit == 0 || n < limit {
		k.ready.push(at, n)
	}
}

// Due is when the first request is ready.
func (k *closed) Due() int64 { return k.ready.first() }

// Take sends it.
func (k *closed) Take(_ int64, r *Request) {
	n := k.ready.pop()
	k.fill(n, r)
	r.Cause = follows(n, k.client.Arrivals.Closed.Concurrency, k.think)
	k.sent++
}

// Ended plans the request that follows.
func (k *closed) Ended(now int64, _ End) {
	places := k.client.Arrivals.Closed.Concurrency
	n := k.ended + int64(places)
	k.plan(now+follows(n, places, k.think).Wait, n)
	k.ended++
}

// follows is the cause of entity n of a closed loop with so many places: the first of
// them start at once, the next follow an end each, in order, after a time to think.
func follows(n int64, places int, think *sampler) Cause {
	c := Cause{Kind: AfterEnd, End: max(n-int64(places), -1)}
	if c.End >= 0 && think != nil {
		c.Wait = think.wait(n)
	}
	return c
}

// Left counts the client's own bound.
func (k *closed) Left() int64 { return left(k.client.Requests, k.sent) }
