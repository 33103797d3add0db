package workload

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// TraceSchema is the id of the first line of a trace.
const TraceSchema = "blis.trace/1"

// TraceHeader is the first line of a trace; a TraceRow follows a request, in order
// of sending. A trace records why each request was sent when it was, not only the
// time, so a replay under another configuration recomputes what follows from its
// own completions.
type TraceHeader struct {
	Schema  string        `json:"schema"`
	Source  string        `json:"source,omitempty"` // what it was made from
	Clients []TraceClient `json:"clients"`
}

// TraceClient is what a client's requests share, and what it had planned.
type TraceClient struct {
	Class  string          `json:"class,omitempty"`
	Tenant string          `json:"tenant,omitempty"`
	Goal   spec.Objectives `json:"objectives"`
	// Requests is how many the client plans to send: absent as many as its rows, -1
	// without an end. A run without a horizon plans the rows alone.
	Requests int64 `json:"requests,omitempty"`
	// Concurrency is that of a closed loop.
	Concurrency int `json:"concurrency,omitempty"`
}

// Label is what figures are grouped by.
func (c *TraceClient) Label() Label { return Label{c.Class, c.Tenant, c.Goal} }

func (c *TraceClient) check(at string) error {
	switch {
	case c.Requests < -1 || c.Requests > spec.MaxCount:
		return refuse(at+".requests", c.Requests, "is no number of requests", fmt.Sprintf("-1, without an end, or 0 to %d", spec.MaxCount))
	case c.Concurrency < 0 || c.Concurrency > spec.MaxConcurrency:
		return refuse(at+".concurrency", c.Concurrency, "is out of range", fmt.Sprintf("0 to %d", spec.MaxConcurrency))
	}
	return nil
}

// TraceRow is one request. Times are microseconds. Exactly one of At, AfterEnd and
// AfterRound says what it waits for. In a session, Prompt holds the round's new
// tokens alone.
type TraceRow struct {
	Client     int        `json:"client"`
	At         *int64     `json:"at,omitempty"`
	AfterEnd   *int64     `json:"after_end,omitempty"` // ordinal of the client's end; -1 is the start
	AfterRound bool       `json:"after_round,omitempty"`
	Wait       int64      `json:"wait,omitempty"`
	Session    *int64     `json:"session,omitempty"`
	Rounds     int        `json:"rounds,omitempty"` // of the session, in its first row; absent as many as its rows
	Prompt     [][3]int64 `json:"prompt"`           // stream, first token, tokens
	Stream     int64      `json:"stream"`           // of the output tokens
	Length     int        `json:"length"`           // output tokens at which the sequence ends
	MaxTokens  int        `json:"max_tokens"`
	Priority   int        `json:"priority,omitempty"`
	Deadline   int64      `json:"deadline,omitempty"`
	Warmup     bool       `json:"warmup,omitempty"`
}

// TraceWriter writes requests as they are sent.
type TraceWriter struct {
	w    *bufio.Writer
	sent map[[2]int64]int // segments already written of a session's context
	err  error
}

// NewTraceWriter writes the header.
func NewTraceWriter(w io.Writer, source string, clients []TraceClient) *TraceWriter {
	t := &TraceWriter{w: bufio.NewWriterSize(w, 1<<16), sent: map[[2]int64]int{}}
	t.line(TraceHeader{Schema: TraceSchema, Source: source, Clients: clients})
	return t
}

func (t *TraceWriter) line(v any) {
	b, err := json.Marshal(v)
	if err == nil {
		_, err = t.w.Write(append(b, '\n'))
	}
	if t.err == nil {
		t.err = err
	}
}

// Write adds a request; the first error is kept for Close.
func (t *TraceWriter) Write(client int, r *Request) {
	row := TraceRow{Client: client, Stream: int64(r.Output.Stream), Length: r.Length, MaxTokens: r.MaxTokens, Priority: r.Priority,
		Deadline: r.Deadline, Warmup: r.Warmup, Prompt: [][3]int64{}}
	fresh := r.Prompt
	if r.Session >= 0 {
		key := [2]int64{int64(client), r.Session}
		fresh = r.Prompt[t.sent[key]:]
		t.sent[key] = len(r.Prompt) + 1 // and the output that follows
		row.Session = &r.Session
		if r.Round == 0 {
			row.Rounds = r.Rounds
		}
	}
	for _, s := range fresh {
		row.Prompt = append(row.Prompt, [3]int64{int64(s.Stream), int64(s.Start), int64(s.Count)})
	}
	switch c := r.Cause; c.Kind {
	case AtTime:
		row.At = &c.Wait
	case AfterEnd:
		row.AfterEnd, row.Wait = &c.End, c.Wait
	case AfterRound:
		row.AfterRound, row.Wait = true, c.Wait
	}
	t.line(row)
}

// WriteRow adds a row that comes from elsewhere than a run.
func (t *TraceWriter) WriteRow(r *TraceRow) { t.line(r) }

// Close flushes and gives the first error.
func (t *TraceWriter) Close() error {
	if err := t.w.Flush(); t.err == nil {
		t.err = err
	}
	return t.err
}

// OpenTrace reads a trace named path; scale multiplies every time of sending and every
// wait in it, and cut is whether the run has a horizon. The sources are one a client.
func OpenTrace(path string, data []byte, scale float64, cut bool) ([]Source, []TraceClient, error) {
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<26)
	if !lines.Scan() {
		return nil, nil, &diag.Refusal{File: path, Problem: "is empty", Accept: "a trace header and rows"}
	}
	var h TraceHeader
	if err := strict.JSON(path, lines.Bytes(), &h); err != nil {
		return nil, nil, err
	}
	if h.Schema != TraceSchema {
		return nil, nil, &diag.Refusal{File: path, Line: 1, Field: "schema", Value: h.Schema, Problem: "is not a trace's", Accept: TraceSchema, Rule: "SIM-11"}
	}
	replays := make([]*replay, len(h.Clients))
	sources := make([]Source, len(h.Clients))
	goals := spec.Goals{}
	for i := range replays {
		c, at := &h.Clients[i], fmt.Sprintf("clients[%d]", i)
		if err := cmp.Or(c.check(at), goals.Add(at+".objectives", c.Class, c.Goal)); err != nil {
			return nil, nil, onLine(diag.In(path, err), 1)
		}
		replays[i] = newReplay(i)
		sources[i] = replays[i]
	}
	for n := 2; lines.Scan(); n++ {
		var row TraceRow
		if err := strict.JSON(path, lines.Bytes(), &row); err != nil {
			return nil, nil, onLine(err, n)
		}
		err := row.Check(len(replays))
		if err == nil {
			err = replays[row.Client].follows(&row)
		}
		if err != nil {
			return nil, nil, onLine(diag.In(path, err), n)
		}
		replays[row.Client].add(&row, scale)
	}
	if err := lines.Err(); err != nil {
		return nil, nil, &diag.Refusal{File: path, Problem: "cannot be read: " + err.Error()}
	}
	for i, p := range replays {
		if n := h.Clients[i].Requests; n > 0 && n < int64(len(p.rows)) {
			err := refuse(fmt.Sprintf("clients[%d].requests", i), n, "is fewer than the client's rows", fmt.Sprintf("%d or more, or -1", len(p.rows)))
			return nil, nil, onLine(diag.In(path, err), 1)
		} else if cut {
			p.planned = n
		}
		p.begin()
	}
	return sources, h.Clients, nil
}

// Check refuses a row that no replay of so many clients could honour, whatever
// stands before it.
func (r *TraceRow) Check(clients int) error {
	causes := 0
	for _, stated := range []bool{r.At != nil, r.AfterEnd != nil, r.AfterRound} {
		if stated {
			causes++
		}
	}
	switch {
	case r.Client < 0 || r.Client >= clients:
		return refuse("client", r.Client, "is not in the header", fmt.Sprintf("0 to %d", clients-1))
	case causes != 1:
		return refuse("at", causes, "states not one cause", "exactly one of at, after_end, after_round")
	case r.At != nil && r.Wait != 0:
		return refuse("wait", r.Wait, "stands beside at, which is the time itself", "wait beside after_end or after_round")
	case r.AfterEnd != nil && *r.AfterEnd < -1:
		return refuse("after_end", *r.AfterEnd, "is no end", "-1, the start of the run, or the ordinal of an end")
	case r.Rounds != 0 && (r.Rounds < 0 || r.Rounds > spec.MaxRounds || r.Session == nil || r.AfterRound):
		return refuse("rounds", r.Rounds, "is not the rounds of a session that begins here", fmt.Sprintf("1 to %d in a session's first row", spec.MaxRounds))
	case r.AfterRound && r.Session == nil:
		return refuse("after_round", "true", "belongs to no session", "a session")
	case r.Length < 1 || r.MaxTokens < r.Length || r.MaxTokens > spec.MaxTokens:
		return refuse("length", r.Length, "is not in 1..max_tokens", fmt.Sprintf("1 to %d", min(r.MaxTokens, spec.MaxTokens)))
	}
	if err := r.checkTimes(); err != nil {
		return err
	}
	for _, s := range r.Prompt {
		if s[2] < 1 || s[2] > spec.MaxTokens || s[1] < 0 || s[1] > math.MaxInt64-s[2] {
			return refuse("prompt", s, "is no run of tokens", "[stream, first token of 0 or more, tokens of 1 to 2147483647]")
		}
	}
	if len(r.Prompt) == 0 && !r.AfterRound {
		return refuse("prompt", "[]", "is empty", "one run of tokens or more")
	}
	return nil
}

func (r *TraceRow) checkTimes() error {
	at := int64(0)
	if r.At != nil {
		at = *r.At
	}
	const longest = spec.MaxSeconds * 1e6 // of a duration, as in a scenario
	for _, t := range []struct {
		field       string
		value, most int64
	}{{"at", at, Latest}, {"wait", r.Wait, longest}, {"deadline", r.Deadline, longest}} {
		if t.value < 0 || t.value > t.most {
			return refuse(t.field, t.value, "is no time of a run", fmt.Sprintf("0 to %d microseconds", t.most))
		}
	}
	return nil
}

func refuse(field string, value any, problem, accept string) error {
	return &diag.Refusal{Field: field, Value: fmt.Sprint(value), Problem: problem, Accept: accept, Rule: "SIM-11"}
}

func onLine(err error, n int) error {
	if r, ok := err.(*diag.Refusal); ok {
		r.Line, r.Col = n, 0
	}
	return err
}
