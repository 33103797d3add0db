// Package workload turns a scenario's input models into requests: when each is
// sent, what it holds and how long its output will be.
//
// In: a spec.Workload and the frame's seed. Out: Sources, one a client, that hand
// over requests in order of their time. Times are microseconds of simulated time.
// Requests are streamed: a source holds what it needs for the next one and for
// the sessions that are open, never the whole run. Every draw comes from a
// substream named by client, purpose and request (DEV-6), so a request gets the
// same lengths whatever the system does. Source: Target Design §8.4, §8.5.
// Rules kept: DEV-6, DEV-7, DEV-13.
package workload

import (
	"math"

	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// Never is later than every arrival. Latest, 1e12 seconds, is the last time a run
// may reach: two such times still add up below Never.
const (
	Never  int64 = math.MaxInt64
	Latest int64 = 1e18
)

// Segment is a run of tokens: token i is token Start+i of Stream.
type Segment struct {
	Stream uint64
	Start  int
	Count  int
}

// Request is one request as its client sends it. A source overwrites every field.
type Request struct {
	Index     int64 // number among its client's requests; its inputs are named by it, or by session and round
	Session   int64 // -1 when it belongs to none
	Round     int
	Rounds    int  // of its session, as planned; 0 without one
	Warmup    bool // sent by the client's own warm-up
	Prompt    []Segment
	Output    Segment // the stream of the tokens it will generate; Count is 0
	MaxTokens int     // what the client states
	// Length is the sampled output length. It acts as an end-of-sequence at that
	// token, and is read only where DEV-13 allows.
	Length   int
	Label    int // index into the run's labels
	Priority int
	Deadline int64 // microseconds after sending at which the client gives up; 0 is never
	Cause    Cause
}

// Cause is why a request is sent when it is, so that a replay under another
// configuration can recompute the time (§8.5).
type Cause struct {
	Kind CauseKind
	// End is the ordinal of the end, among the client's own, that this request
	// follows; -1 is the start of the run. Only for AfterEnd.
	End int64
	// Wait is microseconds: after the end or the round before, or the time itself.
	Wait int64
}

// CauseKind is what a request waits for.
type CauseKind uint8

const (
	AtTime     CauseKind = iota // nothing: Wait is the time of sending
	AfterEnd                    // an end of the client's requests (or sessions, for their first round)
	AfterRound                  // the round before it in its session
)

// PromptTokens is the prompt's length.
func (r *Request) PromptTokens() int {
	n := 0
	for i := range r.Prompt {
		n += r.Prompt[i].Count
	}
	return n
}

// Label is what figures are grouped by and judged against.
type Label struct {
	Class, Tenant string
	Goal          spec.Objectives
}

// End is how a request ended, as its client sees it.
type End struct {
	Session   int64
	Warmup    bool
	Completed bool
	Output    int // tokens received
}

// Source is one client.
type Source interface {
	// Due is when the next request is sent; in the past means at once, and Never
	// means that the source waits for an end, or is done.
	Due() int64
	// Take fills r with the request that is due. It is called only when Due <= now.
	Take(now int64, r *Request)
	// Ended reports the end of a request of this source.
	Ended(now int64, e End)
	// Left is how many planned requests were not sent yet; -1 when only the run's
	// stop rule bounds them.
	Left() int64
}

// Sessions is a source whose sessions plan rounds.
type Sessions interface {
	// Rounds counts the planned rounds not sent: those of open sessions, and those a
	// session gave up when a round before them did not complete.
	Rounds() (open, abandoned int64)
}

// Kinds of token streams. Streams of different kinds, clients or entities share
// no token.
const (
	promptStream uint64 = iota + 1
	outputStream
	prefixStream
	templateStream
	vocabularyStream
)

// streamID names a token stream. Clients are below 2^16, entities below 2^44.
func streamID(kind uint64, client int, entity int64) uint64 {
	return kind<<60 | uint64(client)<<44 | uint64(entity)
}

// PromptStream, OutputStream, TemplateStream and VocabularyStream name the token
// streams of a client's own prompts, outputs and chat template, and the
// vocabulary in order of token id.
func PromptStream(client int, entity int64) uint64 { return streamID(promptStream, client, entity) }
func OutputStream(client int, entity int64) uint64 { return streamID(outputStream, client, entity) }
func TemplateStream() uint64                       { return streamID(templateStream, 0, 0) }
func VocabularyStream() uint64                     { return streamID(vocabularyStream, 0, 0) }

// Microseconds converts seconds by the simulator's one rule: to the nearest
// microsecond, halves away from zero. What passes Latest gives the first
// microsecond after it, which a run refuses to reach.
func Microseconds(seconds float64) int64 { return bounded(seconds * 1e6) }

func bounded(microseconds float64) int64 {
	if !(microseconds <= float64(Latest)) {
		return Latest + 1
	}
	return int64(math.Round(microseconds))
}
