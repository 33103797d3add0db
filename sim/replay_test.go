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

// Run, export and replay give one Result, apart from what names the workload: the
// inputs, and which of them are drawn or assumed (DEV-7).
func TestReplayGivesTheSameResult(t *testing.T) {
	keep.Rule(t, "DEV-7")
	texts := map[string]string{}
	scenarios, _ := filepath.Glob("testdata/*/*/scenario.yaml")
	for _, path := range scenarios {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	const client, fixed = header + "workload: {clients: [{name: a, ", ", prompt: {fixed: 50}, output: {fixed: 20}"
	for name, text := range map[string]string{
		"cut between arrivals": client + "arrivals: {poisson: {rate: 0.5}}" + fixed + "}]}\nframe: {seed: 3, stop: {horizon: 17}}\n",
		"cut, without a drain": client + "arrivals: {poisson: {rate: 5}}" + fixed + "}]}\nframe: {seed: 3, drain: excluded, stop: {horizon: 10}}\n",
		"cut before a bound":   client + "requests: 50, arrivals: {poisson: {rate: 5}}" + fixed + "}]}\nframe: {seed: 3, stop: {horizon: 5}}\n",
		"stopped":              client + "arrivals: {poisson: {rate: 5}}" + fixed + "}]}\nframe: {seed: 3, drain: excluded, stop: {requests: 9, horizon: 50}}\n",
		"cut sessions":         client + "arrivals: {closed: {concurrency: 3, think: {exponential: {mean: 1}}}}" + fixed + ", session: {rounds: {fixed: 4}, think: {exponential: {mean: 1}}}}]}\nframe: {seed: 3, stop: {horizon: 8}}\n",
		"sessions given up":    client + "arrivals: {constant: {rate: 1}}, deadline: 0.01" + fixed + ", session: {rounds: {fixed: 4}, think: {fixed: 1}}}]}\nframe: {accept: {failed: 1, unfinished: 1}, stop: {horizon: 10}}\n",
		"given up in a bound":  client + "requests: 20, arrivals: {closed: {concurrency: 2}}, deadline: 0.03" + fixed + ", session: {rounds: {uniform: {min: 1, max: 5}}}}]}\nframe: {accept: {failed: 1, unfinished: 1}, stop: {horizon: 10}}\n",
		"a missed concurrency": client + "requests: 60, arrivals: {closed: {concurrency: 8, think: {exponential: {mean: 1}}}}" + fixed + "}]}\nframe: {accept: {failed: 0, unfinished: 0, concurrency: 0.05}}\n",
	} {
		texts[name] = strings.Replace(text, "ARGS", "", 1)
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		s, err := spec.Parse(name, []byte(texts[name]))
		if err != nil {
			t.Fatal(err)
		}
		if s.Workload.Trace != nil {
			continue
		}
		want, trace := exported(t, s, nil)
		got, again := exported(t, replaying(s, 1), trace)
		if !bytes.Equal(again, trace) {
			t.Errorf("%s: the replay's own trace differs:\n%s", name, firstDifference(again, trace))
		}
		for _, r := range []*spec.Result{want, got} {
			r.Inputs.Scenario, r.Inputs.ScenarioSHA256, r.Inputs.Data, r.Random, r.Assumed = nil, "", nil, "", nil
			for i := range r.Figures {
				r.Figures[i].NoInterval = ""
			}
		}
		if g, w := bytesOf(t, got), bytesOf(t, want); !bytes.Equal(g, w) {
			gi, _ := canon.Indent(got)
			wi, _ := canon.Indent(want)
			t.Errorf("%s: the replay differs:\n%s", name, firstDifference(gi, wi))
		}
	}
}

// replaying is s on the requests of a trace.
func replaying(s *spec.Scenario, scale float64) *spec.Scenario {
	again := *s
	again.Workload = spec.Workload{Trace: &spec.Trace{Path: "t.jsonl", Scale: scale}, Acceptance: s.Workload.Acceptance}
	return &again
}

// exported runs s, on the requests of trace if there is one, and gives its Result and
// its own trace.
func exported(t *testing.T, s *spec.Scenario, trace []byte) (*spec.Result, []byte) {
	t.Helper()
	var out bytes.Buffer
	w := gateWorld(t)
	w.Export, w.Files = &out, fstest.MapFS{"t.jsonl": {Data: trace}}
	r, err := Run(s, w)
	if err != nil {
		t.Fatal(err)
	}
	return r, out.Bytes()
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

// A replay of what a scaled replay sent gives the same again.
func TestAScaledReplayExportsWhatItSent(t *testing.T) {
	keep.Rule(t, "DEV-7")
	const text = header + "workload: {clients: [{name: a, requests: 20, arrivals: {poisson: {rate: 5}}, deadline: 0.5, prompt: {fixed: 50}, output: {fixed: 20}, session: {rounds: {fixed: 2}, think: {fixed: 1}}}]}\nframe: {}\n"
	s, err := spec.Parse("s", []byte(strings.Replace(text, "ARGS", "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	once, trace := exported(t, s, nil)
	slow, scaled := exported(t, replaying(s, 2), trace)
	again, _ := exported(t, replaying(s, 1), scaled)
	if slow.Window != again.Window || slow.Window.End < 1.5*once.Window.End {
		t.Errorf("windows: %v scaled, %v once more, %v as it was", slow.Window, again.Window, once.Window)
	}
}

// An accepted concurrency needs closed loops alone, in a scenario and in a trace.
func TestConcurrencyIsAskedOfClosedLoopsAlone(t *testing.T) {
	keep.Rule(t, "DEV-7", "SIM-9")
	const frame = "frame: {accept: {failed: 1, unfinished: 1, concurrency: 9}}\n"
	const closed, open = "{name: a, requests: 9, arrivals: {closed: {concurrency: 2}}, prompt: {fixed: 5}, output: {fixed: 2}}", "{name: b, requests: 9, arrivals: {poisson: {rate: 9}}, prompt: {fixed: 5}, output: {fixed: 2}}"
	for clients, want := range map[string]string{closed: "", open: "frame.accept.concurrency: 9: has no target", closed + ", " + open: "frame.accept.concurrency: 9: has no target"} {
		parse := func(frame string) *spec.Scenario {
			s, err := spec.Parse("s", []byte(strings.Replace(header, "ARGS", "", 1)+"workload: {clients: ["+clients+"]}\n"+frame))
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		_, trace := exported(t, parse(""), nil)
		w := gateWorld(t)
		w.Files = fstest.MapFS{"t.jsonl": {Data: trace}}
		for _, s := range []*spec.Scenario{parse(frame), replaying(parse(frame), 1)} {
			if _, err := Run(s, w); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q", clients, err, want)
			}
		}
	}
}
