package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/sim/analysis"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"gonum.org/v1/gonum/stat/distuv"
)

func fixed(v float64) *spec.Distribution { return &spec.Distribution{Fixed: &v} }

// arrivals drains n requests of one open client.
func arrivals(a spec.Arrivals, n int) []float64 {
	sources, _ := New([]spec.Client{{Name: "a", Arrivals: a, Requests: n, Prompt: fixed(8), Output: fixed(4)}}, 1)
	var out []float64
	for s := sources[0]; s.Due() != Never; {
		out = append(out, float64(s.Due())/1e6)
		s.Take(s.Due(), new(Request))
	}
	return out
}

func gaps(at []float64) []float64 {
	out := []float64{at[0]}
	for i := 1; i < len(at); i++ {
		out = append(out, at[i]-at[i-1])
	}
	return out
}

// Each process against an independent implementation of its family.
func TestProcessesDrawTheirFamily(t *testing.T) {
	src := rand.NewPCG(3, 4)
	weibull := distuv.Weibull{K: 0.7, Lambda: 1, Src: src}
	cases := map[string]struct {
		a    spec.Arrivals
		want func() float64
	}{
		"poisson": {spec.Arrivals{Poisson: &spec.Process{Rate: 5}}, distuv.Exponential{Rate: 5, Src: src}.Rand},
		"gamma":   {spec.Arrivals{Gamma: &spec.Process{Rate: 5, Shape: 0.4}}, distuv.Gamma{Alpha: 0.4, Beta: 0.4 * 5, Src: src}.Rand},
		"weibull": {spec.Arrivals{Weibull: &spec.Process{Rate: 5, Shape: 0.7}}, func() float64 { return weibull.Rand() / weibull.Mean() / 5 }},
	}
	for name, c := range cases {
		got := gaps(arrivals(c.a, 4000))
		want := make([]float64, 4000)
		for i := range want {
			want[i] = c.want()
		}
		if p := analysis.TwoSample(got, want); p < 0.001 {
			t.Errorf("%s: p = %v", name, p)
		}
	}
}

func TestRateWindowsScaleTheLoad(t *testing.T) {
	p := &spec.Process{Rate: 100, Windows: []spec.Window{{Start: 10, End: 20, Factor: 3}, {Start: 30, End: 40, Factor: 0}}}
	var count [6]int
	for _, t := range arrivals(spec.Arrivals{Poisson: p}, 7000) {
		if i := int(t / 10); i < len(count) {
			count[i]++
		}
	}
	for i, want := range []float64{1000, 3000, 1000, 0, 1000, 1000} {
		if math.Abs(float64(count[i])-want) > 5*math.Sqrt(want) {
			t.Errorf("seconds %d to %d: got %d arrivals, want about %v", 10*i, 10*i+10, count[i], want)
		}
	}
}

func TestDistributionsKeepTheirMoments(t *testing.T) {
	cases := []struct {
		name      string
		d         spec.Distribution
		mean, std float64
	}{
		{"uniform", spec.Distribution{Uniform: &spec.Bounds{Min: 10, Max: 19}}, 14.5, 2.8723},
		{"normal", spec.Distribution{Normal: &spec.Normal{Mean: 500, Std: 50, Min: 1, Max: 1000}}, 500, 50},
		{"lognormal", spec.Distribution{LogNormal: &spec.Normal{Mean: 5, Std: 0.5, Min: 1, Max: 1e6}}, 168.17, 89.62},
		{"exponential", spec.Distribution{Exp: &spec.MeanOnly{Mean: 400}}, 400, 400},
		{"empirical", spec.Distribution{Empirical: &spec.Empirical{Values: []float64{10, 20, 90}, Weights: []float64{1, 2, 1}}}, 35, 32.016},
	}
	const n = 20000
	for _, c := range cases {
		s := newSampler(&c.d, 1, "client a", c.name)
		sum, squares := 0.0, 0.0
		for i := range int64(n) {
			v := float64(s.tokens(i))
			sum, squares = sum+v, squares+v*v
		}
		mean := sum / n
		std := math.Sqrt(squares/n - mean*mean)
		if math.Abs(mean-c.mean) > 5*c.std/math.Sqrt(n)+0.51/math.Sqrt(n) || math.Abs(std/c.std-1) > 0.06 {
			t.Errorf("%s: got mean %v, std %v, want %v, %v", c.name, mean, std, c.mean, c.std)
		}
	}
}

func TestPrefixesHaveTheirShareAndOneContent(t *testing.T) {
	c := spec.Client{Name: "a", Requests: 4000, Arrivals: spec.Arrivals{Constant: &spec.Process{Rate: 1}}, Prompt: fixed(8), Output: fixed(4),
		Prefixes: []spec.Prefix{{Name: "p", Tokens: 64, Share: 0.25}, {Name: "q", Tokens: 32, Share: 0.5, Prompt: fixed(5)}}}
	sources, _ := New([]spec.Client{c}, 1)
	count := map[Segment]int{}
	for s := sources[0]; s.Due() != Never; {
		var r Request
		s.Take(s.Due(), &r)
		if len(r.Prompt) == 2 {
			count[r.Prompt[0]]++
			if want := map[int]int{64: 8, 32: 5}[r.Prompt[0].Count]; r.Prompt[1].Count != want {
				t.Fatalf("after a prefix of %d: %d new tokens, want %d", r.Prompt[0].Count, r.Prompt[1].Count, want)
			}
		}
	}
	if len(count) != 2 {
		t.Fatalf("got %d distinct prefixes, want 2", len(count))
	}
	for s, n := range count {
		if want := map[int]float64{64: 1000, 32: 2000}[s.Count]; math.Abs(float64(n)-want) > 150 {
			t.Errorf("prefix of %d tokens: %d requests, want about %v", s.Count, n, want)
		}
	}
}

func TestSessionAccumulatesItsContext(t *testing.T) {
	c := spec.Client{Name: "a", Requests: 3, Arrivals: spec.Arrivals{Closed: &spec.ClosedLoop{Concurrency: 1}}, Prompt: fixed(10), Output: fixed(4),
		Session: &spec.Session{Rounds: *fixed(3), Think: fixed(2)}}
	sources, _ := New([]spec.Client{c}, 1)
	s := sources[0]
	var first Segment
	for i, want := range []struct {
		due    int64
		prompt int
	}{{0, 10}, {2_000_100, 10 + 3 + 10}, {4_000_200, 10 + 3 + 10 + 3 + 10}} {
		if s.Due() != want.due {
			t.Fatalf("round %d is due at %d, want %d", i, s.Due(), want.due)
		}
		var r Request
		s.Take(s.Due(), &r)
		if r.PromptTokens() != want.prompt || r.Round != i {
			t.Errorf("round %d: got %d tokens of round %d, want %d", i, r.PromptTokens(), r.Round, want.prompt)
		}
		if i == 0 {
			first = r.Prompt[0]
		} else if r.Prompt[0] != first {
			t.Errorf("round %d does not begin as round 0 did", i)
		}
		s.Ended(want.due+100, End{Session: r.Session, Completed: true, Output: 3}) // stopped one token short
	}
	if s.Due() != Never {
		t.Error("a fourth request is due")
	}
}

func TestTruncatedRoundEndsItsSession(t *testing.T) {
	keep.Rule(t, "SIM-8")
	c := spec.Client{Name: "a", Requests: 9, Arrivals: spec.Arrivals{Closed: &spec.ClosedLoop{Concurrency: 1}}, Prompt: fixed(10), Output: fixed(4), Session: &spec.Session{Rounds: *fixed(3)}}
	sources, _ := New([]spec.Client{c}, 1)
	var r Request
	sources[0].Take(0, &r)
	sources[0].Ended(5, End{Session: r.Session})
	if sources[0].Take(5, &r); r.Session != 1 || r.Round != 0 {
		t.Errorf("after a round that failed: session %d, round %d, want a new session", r.Session, r.Round)
	}
}

// A client is random exactly when another seed gives other requests.
func TestRandomIsWhetherTheSeedMatters(t *testing.T) {
	keep.Rule(t, "DEV-11")
	drawn := &spec.Distribution{Uniform: &spec.Bounds{Min: 2, Max: 900}}
	cases := map[string]func(c *spec.Client){
		"fixed":    func(*spec.Client) {},
		"arrivals": func(c *spec.Client) { c.Arrivals = spec.Arrivals{Poisson: &spec.Process{Rate: 5}} },
		"think": func(c *spec.Client) {
			c.Arrivals = spec.Arrivals{Closed: &spec.ClosedLoop{Concurrency: 2, Think: drawn}}
		},
		"prompt": func(c *spec.Client) { c.Prompt = drawn },
		"output": func(c *spec.Client) { c.Output = drawn },
		"one pair": func(c *spec.Client) {
			c.Prompt, c.Output, c.Joint = nil, nil, []spec.LengthPair{{Prompt: 3, Output: 4, Weight: 1}}
		},
		"pairs": func(c *spec.Client) {
			c.Prompt, c.Output, c.Joint = nil, nil, []spec.LengthPair{{Prompt: 3, Output: 4, Weight: 1}, {Prompt: 5, Output: 6, Weight: 1}}
		},
		"prefix of all":     func(c *spec.Client) { c.Prefixes = []spec.Prefix{{Name: "p", Tokens: 9, Share: 1, Prompt: fixed(4)}} },
		"prefix of some":    func(c *spec.Client) { c.Prefixes = []spec.Prefix{{Name: "p", Tokens: 9, Share: 0.5}} },
		"prompt of prefix":  func(c *spec.Client) { c.Prefixes = []spec.Prefix{{Name: "p", Tokens: 9, Share: 1, Prompt: drawn}} },
		"output of prefix":  func(c *spec.Client) { c.Prefixes = []spec.Prefix{{Name: "p", Tokens: 9, Share: 1, Output: drawn}} },
		"rounds":            func(c *spec.Client) { c.Session = &spec.Session{Rounds: *drawn} },
		"fixed rounds":      func(c *spec.Client) { c.Session = &spec.Session{Rounds: *fixed(3), Think: fixed(1)} },
		"think of sessions": func(c *spec.Client) { c.Session = &spec.Session{Rounds: *fixed(3), Think: drawn} },
	}
	for name, change := range cases {
		c := spec.Client{Name: "a", Requests: 300, Arrivals: spec.Arrivals{Constant: &spec.Process{Rate: 5}}, Prompt: fixed(8), Output: fixed(4)}
		change(&c)
		sent := func(seed uint64) string {
			sources, _ := New([]spec.Client{c}, seed)
			out := ""
			for s := sources[0]; s.Due() != Never; {
				now := s.Due()
				var r Request
				s.Take(now, &r)
				out += fmt.Sprintln(now, r.Prompt, r.Length)
				s.Ended(now+10, End{Session: r.Session, Completed: true, Output: r.Length})
			}
			return out
		}
		differs := sent(1) != sent(2)
		if got := Random([]spec.Client{c}); got != differs {
			t.Errorf("%s: random is %v, and two seeds differ: %v", name, got, differs)
		}
	}
}

func TestTimesStopAtTheLatest(t *testing.T) {
	for _, c := range []struct {
		seconds float64
		want    int64
	}{{1e12, Latest}, {1.1e12, Latest + 1}, {math.Inf(1), Latest + 1}, {0.0000005, 1}} {
		if got := Microseconds(c.seconds); got != c.want {
			t.Errorf("%v s: got %d, want %d", c.seconds, got, c.want)
		}
	}
}

// A draw beyond the range of its quantity gives the end of the range.
func TestUnboundedDrawsAreClamped(t *testing.T) {
	long := newSampler(&spec.Distribution{Exp: &spec.MeanOnly{Mean: 1e9}}, 1, "a", "b")
	tokens, waits := 0, int64(0)
	for i := range int64(100) {
		tokens, waits = max(tokens, long.tokens(i)), max(waits, long.wait(i))
	}
	if tokens != spec.MaxTokens || waits != Microseconds(spec.MaxSeconds) {
		t.Errorf("got %d tokens and %d us, want the ends of the ranges", tokens, waits)
	}
}

// A trace row that asks for nothing a replay can honour is refused; the closest
// one that can be is taken.
func TestTraceRefusals(t *testing.T) {
	const head = `{"schema":"blis.trace/1","clients":[{"objectives":{}}]}` + "\n"
	cases := []struct{ row, want string }{
		{`{"client":0,"at":0,"prompt":[[1,0,5]],"stream":2,"length":3,"max_tokens":3}`, ""},
		{`{"client":1,"at":0,"prompt":[[1,0,5]],"stream":2,"length":3,"max_tokens":3}`, "t:2: client: 1: is not in the header"},
		{`{"client":0,"prompt":[[1,0,5]],"stream":2,"length":3,"max_tokens":3}`, "states not one cause"},
		{`{"client":0,"at":0,"after_end":-1,"prompt":[[1,0,5]],"stream":2,"length":3,"max_tokens":3}`, "states not one cause"},
		{`{"client":0,"at":-1,"prompt":[[1,0,5]],"stream":2,"length":3,"max_tokens":3}`, "t:2: at: -1: is no time of a run"},
		{`{"client":0,"after_end":-1,"wait":-1,"prompt":[[1,0,5]],"stream":2,"length":3,"max_tokens":3}`, "wait: -1: is no time of a run"},
		{`{"client":0,"at":0,"deadline":-1,"prompt":[[1,0,5]],"stream":2,"length":3,"max_tokens":3}`, "deadline: -1: is no time of a run"},
		{`{"client":0,"at":0,"wait":1,"prompt":[[1,0,5]],"stream":2,"length":3,"max_tokens":3}`, "wait: 1: stands beside at"},
		{`{"client":0,"after_end":-1,"wait":1,"prompt":[[1,0,5]],"stream":2,"length":3,"max_tokens":3}`, ""},
		{`{"client":0,"after_end":-2,"prompt":[[1,0,5]],"stream":2,"length":3,"max_tokens":3}`, "after_end: -2: is no end"},
		{`{"client":0,"at":0,"prompt":[[1,0,5]],"stream":2,"length":4,"max_tokens":3}`, "length: 4: is not in 1..max_tokens"},
		{`{"client":0,"at":1000000000000000001,"prompt":[[1,0,5]],"stream":2,"length":3,"max_tokens":3}`, "at: 1000000000000000001: is no time of a run"},
		{`{"client":0,"at":1000000000000000000,"prompt":[[1,0,5]],"stream":2,"length":3,"max_tokens":3}`, ""},
		{`{"client":0,"at":0,"prompt":[[1,0,2147483648]],"stream":2,"length":3,"max_tokens":3}`, "is no run of tokens"},
		{`{"client":0,"at":0,"prompt":[[1,0,2147483647]],"stream":2,"length":3,"max_tokens":2147483647}`, ""},
		{`{"client":0,"at":0,"prompt":[[1,0,5]],"stream":2,"length":3,"max_tokens":2147483648}`, "length: 3: is not in 1..max_tokens"},
		{`{"client":0,"at":0,"prompt":[[1,0,0]],"stream":2,"length":3,"max_tokens":3}`, "is no run of tokens"},
		{`{"client":0,"at":0,"prompt":[],"stream":2,"length":3,"max_tokens":3}`, "prompt: []: is empty"},
		{`{"client":0,"after_round":true,"prompt":[[1,0,5]],"stream":2,"length":3,"max_tokens":3}`, "belongs to no session"},
		{`{"client":0,"at":0,"promt":[[1,0,5]],"stream":2,"length":3,"max_tokens":3}`, "promt: unknown key"},
	}
	for _, c := range cases {
		_, _, err := OpenTrace("t", []byte(head+c.row+"\n"), 1, false)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.row, err, c.want)
		}
	}
}

func TestTraceClientsOfOneClassHaveItsObjectives(t *testing.T) {
	const head = `{"schema":"blis.trace/1","clients":[{"class":"c","objectives":{"ttft":1}},{"class":"c","objectives":{"ttft":%v}}]}` + "\n"
	for ttft, want := range map[int]string{1: "", 2: "t:1: clients[1].objectives: {ttft: 2, tpot: 0, e2e: 0}: are not those", -1: "t:1: clients[1].objectives.ttft: -1: is out of range"} {
		_, _, err := OpenTrace("t", fmt.Appendf(nil, head, ttft), 1, false)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("ttft %d: got %v, want %q", ttft, err, want)
		}
	}
}

// What a trace says its clients had planned is at least what it holds.
func TestTracePlansHoldTheirRows(t *testing.T) {
	const row = `{"client":0,"at":0,"session":1,"rounds":%d,"prompt":[[1,0,5]],"stream":2,"length":3,"max_tokens":3}` + "\n" +
		`{"client":0,"after_round":true,"session":1,"prompt":[[1,0,5]],"stream":2,"length":3,"max_tokens":3}` + "\n"
	for _, c := range []struct {
		client string
		rounds int
		want   string
	}{
		{"", 0, ""}, {"", 2, ""}, {"", 3, ""}, {"", 1, "t:3: after_round: true: comes after the last round"}, {"", -1, "t:2: rounds: -1: is not the rounds"}, {"", 4097, "t:2: rounds: 4097: is not"},
		{`"requests":2,`, 0, ""}, {`"requests":-1,`, 0, ""}, {`"requests":1,`, 0, "t:1: clients[0].requests: 1: is fewer than the client's rows"}, {`"requests":-2,`, 0, "t:1: clients[0].requests: -2: is no number"},
		{`"concurrency":1048576,`, 0, ""}, {`"concurrency":1048577,`, 0, "t:1: clients[0].concurrency: 1048577: is out of range"}, {`"concurrency":-1,`, 0, "clients[0].concurrency: -1"},
	} {
		_, _, err := OpenTrace("t", fmt.Appendf(nil, `{"schema":"blis.trace/1","clients":[{%s"objectives":{}}]}`+"\n"+row, c.client, c.rounds), 1, false)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v", c, err)
		}
	}
	single := strings.Replace(row, `"session":1,"rounds":%d`, `"rounds":2`, 1)
	if _, _, err := OpenTrace("t", []byte(`{"schema":"blis.trace/1","clients":[{"objectives":{}}]}`+"\n"+single), 1, false); err == nil || !strings.Contains(err.Error(), "rounds: 2: is not the rounds of a session") {
		t.Errorf("rounds without a session: %v", err)
	}
}

// A cause that the rows above it never bring about is refused at its line; the closest
// that they do is taken.
func TestTraceCausesComeAbout(t *testing.T) {
	const head = `{"schema":"blis.trace/1","clients":[{"objectives":{}},{"objectives":{}}]}` + "\n"
	row := func(client int, cause string) string {
		return fmt.Sprintf(`{"client":%d,%s,"prompt":[[1,0,5]],"stream":2,"length":3,"max_tokens":3}`+"\n", client, cause)
	}
	at, first, next := row(0, `"at":0`), row(0, `"at":0,"session":4`), row(0, `"after_round":true,"session":4`)
	cases := []struct{ rows, want string }{
		{at + row(0, `"after_end":0`), ""},
		{at + row(0, `"after_end":1`), "t:3: after_end: 1: is an end that no row above brings about"},
		{at + row(1, `"after_end":0`), "t:3: after_end: 0: is an end"},
		{row(0, `"after_end":0`), "t:2: after_end: 0: is an end"},
		{first + next + row(0, `"after_end":0`), ""},
		{first + next + row(0, `"after_end":1`), "t:4: after_end: 1: is an end"},
		{next + first, "t:2: after_round: true: comes before its session's first round"},
		{first + row(1, `"after_round":true,"session":4`), "t:3: after_round: true: comes before"},
		{first + first, "t:3: session: 4: has begun above"},
	}
	for _, c := range cases {
		_, _, err := OpenTrace("t", []byte(head+c.rows), 1, false)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.rows, err, c.want)
		}
	}
}

func FuzzOpenTrace(f *testing.F) {
	f.Add([]byte(`{"schema":"blis.trace/1","clients":[{"objectives":{}}]}` + "\n" + `{"client":0,"at":0,"prompt":[[1,0,5]],"stream":2,"length":3,"max_tokens":3}`))
	f.Fuzz(func(t *testing.T, b []byte) { _, _, _ = OpenTrace("t", b, 1, true) })
}
