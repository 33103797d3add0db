package sim

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// miscounter is a plain engine whose token record of an ended request is not what it
// did: whoever counts again shows the truth and not the record.
type miscounter struct {
	*plainEngine
	prompts *[]int // of what was submitted
}

var misread = engines.TokenRecord{Prompt: 1000, CachedLocal: 30, Computed: 970, Emitted: 11, Preemptions: 4}

func (e miscounter) Submit(r *engines.Request) *engines.Rejection {
	*e.prompts = append(*e.prompts, r.PromptTokens())
	return e.plainEngine.Submit(r)
}

func (e miscounter) Complete(out *engines.Outcome) {
	e.plainEngine.Complete(out)
	for i := range out.Events {
		if ev := &out.Events[i]; ev.Finish != engines.NotFinished {
			ev.Request.Token = misread
		}
	}
}

type miscounterKind struct {
	plainKind
	prompts *[]int
}

func (k miscounterKind) New(s engines.Spec, env engines.Environment) (engines.Engine, error) {
	e, err := k.plainKind.New(s, env)
	return miscounter{e.(*plainEngine), k.prompts}, err
}

type records []RequestRecord

func (o *records) Request(r RequestRecord) { *o = append(*o, r) }
func (*records) Batch(BatchRecord)         {}
func (*records) Instant(des.Time, Load)    {}

// TestNoConsumerCountsTokensAgain keeps SIM-12: the Result, its figures, an observer and
// a session's next prompt say what the engine's token record says.
func TestNoConsumerCountsTokensAgain(t *testing.T) {
	keep.Rule(t, "SIM-12")
	const rounds = 5
	text := header + fmt.Sprintf("workload: {clients: [{name: a, requests: %d, arrivals: {closed: {concurrency: 1}}, prompt: {fixed: 10}, output: {fixed: 3}, session: {rounds: {fixed: %d}}}]}\n", rounds, rounds)
	s, err := spec.Parse("s", bytes.Replace([]byte(text), []byte("ARGS"), nil, 1))
	if err != nil {
		t.Fatal(err)
	}
	var seen records
	var prompts []int
	w := plainWorld()
	w.Kinds, w.Observer = []engines.Kind{miscounterKind{prompts: &prompts}}, &seen
	r, err := Run(s, w)
	if err != nil {
		t.Fatal(err)
	}
	q := r.Requests
	if q.PromptTokens != rounds*1000 || q.CachedTokens != rounds*30 || q.OutputTokens != rounds*11 || q.Preemptions != rounds*4 {
		t.Errorf("the Result counts %d prompt, %d cached and %d output tokens and %d preemptions, the records %+v each", q.PromptTokens, q.CachedTokens, q.OutputTokens, q.Preemptions, misread)
	}
	d := value(t, r, "duration", "cluster")
	for id, want := range map[string]float64{"input_throughput": rounds * 1000 / d, "output_throughput": rounds * 11 / d, "preemptions": 4,
		"tpot_mean": (value(t, r, "e2e_mean", "cluster") - value(t, r, "ttft_mean", "cluster")) / 10} {
		if got := value(t, r, id, "cluster"); got < want*(1-1e-9) || got > want*(1+1e-9) {
			t.Errorf("%s: got %v, want %v", id, got, want)
		}
	}
	if len(seen) != rounds || len(prompts) != rounds {
		t.Fatalf("%d requests seen and %d submitted, want %d", len(seen), len(prompts), rounds)
	}
	for _, x := range seen {
		if got := (engines.TokenRecord{Prompt: x.Prompt, CachedLocal: x.Cached, Computed: 970, Emitted: x.Output, Preemptions: x.Preemptions}); got != misread {
			t.Errorf("an observer sees %+v, want %+v", got, misread)
		}
	}
	for i, got := range prompts {
		if want := 10 + i*(10+misread.Emitted); got != want {
			t.Errorf("round %d: a prompt of %d tokens, want %d: ten, and what the rounds before said and heard", i, got, want)
		}
	}
}
