package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/inference-sim/accuracy-dashboard/sim/workload"
)

func TestServerSettingLeavesEveryRequestAsItWas(t *testing.T) {
	keep.Rule(t, "DEV-6")
	scenario := strings.NewReplacer("deadline: 0.013", "deadline: 0", "output: {fixed: 9}", "output: {exponential: {mean: 20}}").Replace(openLoop)
	lengths := func(args string) *lengthObserver {
		o := &lengthObserver{map[uint64][2]int{}, map[int64][]int{}}
		w := plainWorld()
		w.Observer = o
		run(t, scenario, args, w)
		return o
	}
	a, b := lengths("seqs: 2"), lengths("seqs: 64, budget: 100")
	if len(a.open) != 300 || !maps.Equal(a.open, b.open) {
		t.Errorf("%d and %d requests of clients that wait for nobody are not the same", len(a.open), len(b.open))
	}
	turns := 0
	for session, want := range a.sessions {
		got := b.sessions[session]
		n := min(len(got), len(want)) // the last sessions are cut short by the number of requests
		whole := int(session) < len(a.sessions)-3
		if turns += n; !slices.Equal(got[:n], want[:n]) || whole && len(got) != len(want) {
			t.Errorf("session %d: got outputs %v and %v", session, want, got)
		}
	}
	if turns < 40 {
		t.Errorf("only %d turns of sessions ran in both", turns)
	}
}

// lengthObserver keeps prompt and output lengths of the first two clients by order of
// sending, and output lengths of the third by session and turn: its order of sending
// follows from the server, and its prompts hold what came before.
type lengthObserver struct {
	open     map[uint64][2]int
	sessions map[int64][]int
}

func (o *lengthObserver) Request(r RequestRecord) {
	if r.Client == 2 {
		o.sessions[r.Session] = append(o.sessions[r.Session], r.Output)
		return
	}
	o.open[uint64(r.Client)<<40|uint64(r.Index)] = [2]int{r.Prompt, r.Output}
}
func (o *lengthObserver) Batch(BatchRecord)      {}
func (o *lengthObserver) Instant(des.Time, Load) {}

// Run, export and replay give one Result, its inputs apart (DEV-7).
func TestReplayGivesTheSameResult(t *testing.T) {
	keep.Rule(t, "DEV-7")
	scenarios, _ := filepath.Glob("testdata/*/*/scenario.yaml")
	for _, path := range scenarios {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := spec.Parse(path, text)
		if err != nil {
			t.Fatal(err)
		}
		if s.Workload.Trace != nil {
			continue
		}
		var trace bytes.Buffer
		w := gateWorld(t)
		w.Export = &trace
		want, err := Run(s, w)
		if err != nil {
			t.Fatal(err)
		}
		again := *s
		again.Workload = spec.Workload{Trace: &spec.Trace{Path: "t.jsonl"}}
		w = gateWorld(t)
		w.Files = fstest.MapFS{"t.jsonl": {Data: trace.Bytes()}}
		got, err := Run(&again, w)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []*spec.Result{want, got} {
			r.Inputs, r.Random, r.Requests.Created, r.Requests.Measured.NotStarted = spec.Inputs{}, "", 0, 0
			for i := range r.Figures {
				r.Figures[i].NoInterval = ""
			}
		}
		if g, w := bytesOf(t, got), bytesOf(t, want); !bytes.Equal(g, w) {
			gi, _ := canon.Indent(got)
			wi, _ := canon.Indent(want)
			t.Errorf("%s: the replay differs:\n%s", path, firstDifference(gi, wi))
		}
	}
}

// A request, and a round of a session, waits as long and holds as much in every
// configuration, whatever the order in which requests end.
func TestServerSettingLeavesEveryWaitAsItWas(t *testing.T) {
	keep.Rule(t, "DEV-6")
	const scenario = header + `workload:
  clients:
  - {name: a, requests: 60, arrivals: {closed: {concurrency: 4, think: {exponential: {mean: 0.2}}}}, prompt: {uniform: {min: 1, max: 300}}, output: {uniform: {min: 2, max: 90}}}
  - {name: b, requests: 60, arrivals: {closed: {concurrency: 3, think: {exponential: {mean: 0.2}}}}, prompt: {fixed: 40}, output: {uniform: {min: 2, max: 90}}, session: {rounds: {uniform: {min: 1, max: 5}}, think: {exponential: {mean: 0.2}}}}
`
	rows := func(args string) (of [2]map[int64]string) {
		var b bytes.Buffer
		w := plainWorld()
		w.Export = &b
		run(t, scenario, args, w)
		of = [2]map[int64]string{{}, {}}
		for line := range strings.Lines(b.String()) {
			var r workload.TraceRow
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			if r.Length > 0 {
				of[r.Client][r.Stream] = fmt.Sprint(r.Wait, r.Prompt, r.Length)
			}
		}
		return of
	}
	few, many := rows("seqs: 2"), rows("seqs: 64")
	if len(few[0]) != 60 || !maps.Equal(few[0], many[0]) {
		t.Errorf("%d requests of a closed loop are not those of another configuration", len(few[0]))
	}
	both := 0
	for stream, want := range few[1] { // the sessions sent by both
		if got, ok := many[1][stream]; ok {
			if both++; got != want {
				t.Errorf("round %x: got %s, want %s", stream, got, want)
			}
		}
	}
	if both < 40 {
		t.Errorf("only %d rounds ran in both", both)
	}
}
