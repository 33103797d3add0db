package sim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// idler is a plain engine that first takes steps in which it does nothing.
type idler struct {
	*plainEngine
	idle      int
	announces bool
	idling    bool
}

func (e *idler) Poll() engines.Action {
	switch {
	case e.idling:
		return engines.Action{Do: engines.Wait}
	case e.idle == 0 || len(e.waiting) == 0:
		return e.plainEngine.Poll()
	}
	e.idle--
	e.idling = true
	return engines.Action{Do: engines.Launch, Batch: engines.Batch{Steps: e.price(&plainBatch{}), Empty: e.announces}}
}

func (e *idler) Complete(out *engines.Outcome) {
	if !e.idling {
		e.plainEngine.Complete(out)
		return
	}
	e.idling = false
	*out = engines.Outcome{Events: out.Events[:0], Waiting: len(e.waiting)}
}

type idlerKind struct {
	plainKind
	idle      int
	announces bool
}

func (k idlerKind) New(s engines.Spec, env engines.Environment) (engines.Engine, error) {
	e, err := k.plainKind.New(s, env)
	return &idler{plainEngine: e.(*plainEngine), idle: k.idle, announces: k.announces}, err
}

// A step that changes nothing is a defect of the engine unless it said so, and saying so
// for ever is one as well.
func TestAStepThatChangesNothingWasAnnounced(t *testing.T) {
	keep.Rule(t, "DEV-5", "SIM-7")
	const one = header + "workload: {clients: [{name: a, requests: 1, arrivals: {constant: {rate: 1000}}, prompt: {fixed: 10}, output: {fixed: 3}}]}\n"
	for _, c := range []struct {
		idle      int
		announces bool
		want      string
	}{
		{0, false, ""},
		{1, false, "a batch changed no request and was not announced as empty, 1 wait and 0 run (DEV-5)"},
		{1, true, ""},
		{stallLimit, true, ""},
		{stallLimit + 1, true, fmt.Sprintf("%d batches in a row changed no request while 1 wait and 0 run (SIM-7)", stallLimit+1)},
	} {
		s, err := spec.Parse("s", []byte(strings.Replace(one, "ARGS", "", 1)))
		if err != nil {
			t.Fatal(err)
		}
		w := plainWorld()
		w.Kinds = []engines.Kind{idlerKind{idle: c.idle, announces: c.announces}}
		r, err := Run(s, w)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d idle steps, announced %v: got %v, want %q", c.idle, c.announces, err, c.want)
		}
		if err == nil && r.Engines[0].EmptySteps != int64(c.idle) {
			t.Errorf("%d idle steps: the Result counts %d", c.idle, r.Engines[0].EmptySteps)
		}
	}
}
