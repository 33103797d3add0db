package ledger

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

// benchmarkServing is the source name of result files that vLLM's
// benchmark_serving, and InferenceX's client made from it, save.
const benchmarkServing = "benchmark-serving"

// servingLaunch is what a result file does not say of its run: how the server was
// started and the client called. One holds for every file of a directory.
type servingLaunch struct {
	Model       string            `json:"model"` // as each result's model_id
	Checkpoint  string            `json:"checkpoint"`
	Hardware    string            `json:"hardware"`
	Precision   string            `json:"precision"`
	Framework   string            `json:"framework"`
	Version     string            `json:"version"`
	Image       *string           `json:"image"`
	Speculation string            `json:"speculation"` // none, mtp or unknown
	ServerArgs  map[string]any    `json:"server_args"`
	Env         map[string]string `json:"env"`
	Logged      *Logged           `json:"logged"`
	Client      Client            `json:"client"` // its counts come from each result
	Router      *Router           `json:"router"`
	Metadata    []string          `json:"metadata"`
}

// IngestBenchmarkServing turns result files, one a run, and the facts of their
// launch into a ledger. Files are taken in order of name, whatever their order
// here; a record's line is its place in that order, from 1. A key that neither the
// client nor the launch's metadata names is refused.
func IngestBenchmarkServing(results []Input, facts Input, published Published) (*Ledger, error) {
	l := new(servingLaunch)
	if err := strict.JSON(facts.Name, facts.Data, l); err != nil {
		return nil, err
	}
	if err := l.check(); err != nil {
		return nil, diag.In(facts.Name, err)
	}
	results = slices.Clone(results)
	slices.SortFunc(results, func(a, b Input) int { return cmp.Compare(a.Name, b.Name) })
	b := builder{units: map[string]*Unit{}}
	var rows []*row
	sums := make([]string, len(results))
	for i, in := range results {
		r, err := l.row(i+1, in)
		if err != nil {
			return nil, diag.In(in.Name, err)
		}
		rows, sums[i] = append(rows, r), path.Base(in.Name)+" "+canon.Sum(in.Data)
	}
	if len(rows) == 0 {
		return nil, &diag.Refusal{File: facts.Name, Field: "rows", Problem: "no result files", Accept: "a directory of *.json files the client saved"}
	}
	b.add(rows)
	led := &Ledger{Units: b.sorted(), Published: published}
	all, err := canon.Hash(sums)
	if err != nil {
		return nil, err
	}
	led.Report = Report{Source: benchmarkServing, Rows: File{SHA256: all, Records: len(rows)}, Launches: File{SHA256: canon.Sum(facts.Data), Records: 1},
		LaunchFacts: LaunchFacts{Read: 1, OnUnits: 1}, LeftOut: b.leftOut}
	encoded, err := encodeLines(led.Units)
	if err != nil {
		return nil, err
	}
	led.count(&led.Report, canon.Sum(encoded))
	return led, led.check()
}

func (l *servingLaunch) check() error {
	for _, f := range []struct{ name, value string }{
		{"model", l.Model}, {"checkpoint", l.Checkpoint}, {"hardware", l.Hardware}, {"precision", l.Precision}, {"framework", l.Framework},
		{"version", l.Version}, {"client.repo", l.Client.Repo}, {"client.dataset", l.Client.Dataset}, {"client.request_rate", l.Client.RequestRate},
	} {
		if f.value == "" {
			return &diag.Refusal{Field: f.name, Problem: "is missing", Accept: "what the run used; nothing is filled in"}
		}
	}
	c := &l.Client
	switch {
	case slices.Contains([]string{"latest", "main", "unknown"}, l.Version):
		return &diag.Refusal{Field: "version", Value: l.Version, Problem: "is not a revision", Accept: "a release number or a commit", Rule: "D3"}
	case !slices.Contains([]string{"none", "mtp", "unknown"}, l.Speculation):
		return &diag.Refusal{Field: "speculation", Value: l.Speculation, Problem: "unknown speculation", Accept: "none, mtp or unknown"}
	case l.ServerArgs == nil || l.Env == nil:
		return &diag.Refusal{Field: "server_args", Problem: "is missing", Accept: "the flags and variables passed; {} for none"}
	case c.InputLen < 1 || c.OutputLen < 1:
		return &diag.Refusal{Field: "client.input_len", Value: fmt.Sprint(c.InputLen), Problem: "is no length", Accept: "the nominal prompt and output tokens"}
	case c.NumPrompts != nil || c.MaxConcurrency != nil:
		return &diag.Refusal{Field: "client.num_prompts", Problem: "is stated here", Accept: "nothing: each result file records its own count and concurrency"}
	}
	return nil
}

// Keys of a result file beside its statistics. Arrays of single requests, which a
// detailed result adds, hold nothing that a unit records.
var (
	resultKeys = []string{"date", "backend", "endpoint_type", "label", "model_id", "tokenizer_id", "best_of", "num_prompts", "request_rate", "burstiness", "max_concurrency",
		"duration", "benchmark_start_time_unix", "benchmark_end_time_unix", "completed", "failed", "total_input_tokens", "total_output_tokens",
		"request_throughput", "request_goodput", "request_goodput:", "output_throughput", "total_token_throughput", "max_output_tokens_per_s", "max_concurrent_requests",
		"input_lens", "output_lens", "ttfts", "itls", "generated_texts", "errors", "start_times"}
	statisticKey = regexp.MustCompile(`^(mean|median|std|p\d+(\.\d+)?)_(ttft|tpot|itl|e2el)_ms$`)
)

// row reads one result file.
func (l *servingLaunch) row(n int, in Input) (*row, error) {
	var keys map[string]json.RawMessage
	if err := strict.JSON(in.Name, in.Data, &keys); err != nil {
		return nil, err
	}
	for _, k := range union(keys, nil) {
		if !slices.Contains(resultKeys, k) && !slices.Contains(l.Metadata, k) && !statisticKey.MatchString(k) {
			return nil, &diag.Refusal{Field: k, Problem: "unknown key", Accept: diag.OneOf(k, resultKeys) + "; or name it in the launch's metadata"}
		}
	}
	res := result{keys: keys}
	if err := l.sameRun(&res); err != nil {
		return nil, err
	}
	r := &row{line: n, column: map[string]string{"id": strings.TrimSuffix(path.Base(in.Name), ".json"), "backend_version": l.Version}}
	r.prov.dump = path.Base(in.Name)
	concurrency, prompts := res.count("max_concurrency"), res.count("num_prompts")
	r.ttft, r.tpot = res.number("mean_ttft_ms"), res.number("mean_tpot_ms")
	r.more = Measurement{TTFT: res.percentiles("ttft"), TPOT: res.percentiles("tpot"),
		Totals: &Totals{Completed: res.count("completed"), PromptTokens: res.count("total_input_tokens"), OutputTokens: res.count("total_output_tokens"), DurationS: res.number("duration")}}
	if _, ok := keys["mean_e2el_ms"]; ok {
		c := float64(r.more.Totals.Completed) / r.more.Totals.DurationS * res.number("mean_e2el_ms") / 1000
		r.more.Totals.Concurrency = &c
	}
	date := res.date()
	if res.err != nil {
		return nil, res.err
	}
	return r, l.identify(r, int(concurrency), int(prompts), date)
}

// sameRun refuses a result of another run than the launch facts describe.
func (l *servingLaunch) sameRun(res *result) error {
	for _, f := range []struct{ key, want string }{{"model_id", l.Model}, {"backend", l.Client.Backend}, {"request_rate", l.Client.RequestRate}} {
		if got := res.text(f.key); got != f.want {
			return &diag.Refusal{Field: f.key, Value: got, Problem: "is another run's: the launch facts say " + f.want, Accept: f.want}
		}
	}
	return nil
}

// identify names the unit: the recipe fingerprint tells launches apart that one
// serving configuration cannot.
func (l *servingLaunch) identify(r *row, concurrency, prompts int, date *string) error {
	client := l.Client
	client.NumPrompts, client.MaxConcurrency = &prompts, &concurrency
	r.launched = &Configuration{Match: "unique", Checkpoint: &l.Checkpoint, Image: l.Image, Speculation: l.Speculation, ServerArgs: l.ServerArgs, Env: l.Env,
		Logged: l.Logged, Client: &client, Router: l.Router, Notes: []string{}}
	r.serving = Serving{Image: l.Image, ISL: &l.Client.InputLen, OSL: &l.Client.OutputLen}
	hash, err := canon.Hash(r.serving)
	if err != nil {
		return err
	}
	recipe, err := canon.Hash(struct {
		Checkpoint string            `json:"checkpoint"`
		ServerArgs map[string]any    `json:"server_args"`
		Env        map[string]string `json:"env"`
		Client     Client            `json:"client"`
		Router     *Router           `json:"router,omitempty"`
	}{l.Checkpoint, l.ServerArgs, l.Env, l.Client, l.Router})
	if err != nil {
		return err
	}
	r.identity = Identity{
		RoleKey: RoleKey{Source: benchmarkServing, Model: l.Model, Hardware: l.Hardware, Precision: l.Precision, Framework: l.Framework,
			BenchmarkType: l.Client.Dataset, ConfigHash: hash},
		RecipeFingerprint: &recipe, Concurrency: concurrency, MeasuredDate: date,
	}
	if r.roleKey, err = r.identity.RoleKey.Key(); err != nil {
		return err
	}
	r.id, err = r.identity.Hash()
	return err
}

// result reads values of a result file and keeps the first refusal.
type result struct {
	keys map[string]json.RawMessage
	err  error
}

func (r *result) refuse(key, problem, accept string) {
	if r.err == nil {
		r.err = &diag.Refusal{Field: key, Value: string(r.keys[key]), Problem: problem, Accept: accept}
	}
}

// text is a string or a number as the file writes it.
func (r *result) text(key string) string {
	var s string
	if json.Unmarshal(r.keys[key], &s) == nil {
		return s
	}
	return string(r.keys[key])
}

func (r *result) number(key string) float64 {
	v, err := strconv.ParseFloat(string(r.keys[key]), 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		r.refuse(key, "is missing or not above 0", "a finite number above 0")
		return math.NaN()
	}
	return v
}

func (r *result) count(key string) int64 {
	n, err := strconv.ParseInt(string(r.keys[key]), 10, 32)
	if err != nil || n < 1 {
		r.refuse(key, "is missing or not a count", "an integer of at least 1")
	}
	return n
}

// percentiles reads what the file has of them; the median is p50.
func (r *result) percentiles(metric string) *Percentiles {
	p := new(Percentiles)
	found := false
	for _, f := range []struct {
		statistic string
		into      **float64
	}{{"median", &p.P50}, {"p50", &p.P50}, {"p90", &p.P90}, {"p95", &p.P95}, {"p99", &p.P99}} {
		key := f.statistic + "_" + metric + "_ms"
		if _, ok := r.keys[key]; ok {
			v := r.number(key)
			*f.into, found = &v, true
		}
	}
	if !found {
		return nil
	}
	if err := p.check(metric); err != nil && r.err == nil {
		r.err = err
	}
	return p
}

var resultDate = regexp.MustCompile(`^(\d{4})(\d{2})(\d{2})-\d{6}$`)

// date is the day of a "20260607-060221" stamp.
func (r *result) date() *string {
	m := resultDate.FindStringSubmatch(r.text("date"))
	if m == nil {
		r.refuse("date", "is not a time stamp of the client", "YYYYMMDD-HHMMSS")
		return nil
	}
	day := strings.Join(m[1:], "-")
	return &day
}
