package convert

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/inference-sim/accuracy-dashboard/sim/workload"
)

// mooncakeBlock is the tokens of one hash id (kvcache-ai/Mooncake@3b5a5941,
// FAST25-release/traces).
const mooncakeBlock = 512

// mooncakeRow is one line; a pointer is nil when its key is missing.
type mooncakeRow struct {
	Timestamp *int64  `json:"timestamp"` // ms
	Input     int64   `json:"input_length"`
	Output    int64   `json:"output_length"`
	Hashes    []int64 `json:"hash_ids"`
}

func (r *mooncakeRow) check(file string, line int) error {
	if r.Timestamp == nil {
		return refuse(file, line, "timestamp", "", "is missing")
	}
	err := cmp.Or(within(file, line, "timestamp", *r.Timestamp, 0, workload.Latest/1000), counts(file, line, "input_length", r.Input), counts(file, line, "output_length", r.Output))
	if err != nil {
		return err
	}
	if blocks := (r.Input + mooncakeBlock - 1) / mooncakeBlock; int64(len(r.Hashes)) != blocks {
		return &diag.Refusal{File: file, Line: line, Field: "hash_ids", Value: fmt.Sprint(len(r.Hashes)), Problem: fmt.Sprintf("do not cover %d tokens", r.Input),
			Accept: fmt.Sprintf("%d ids, one for each %d tokens", blocks, mooncakeBlock)}
	}
	for i, h := range r.Hashes {
		if err := within(file, line, fmt.Sprintf("hash_ids[%d]", i), h, 0, math.MaxInt64/mooncakeBlock-1); err != nil {
			return err
		}
	}
	return nil
}

// mooncake reads JSON lines of timestamp (ms), input_length, output_length and
// hash_ids, one a block of the prompt. Equal ids are equal tokens: block i is the
// tokens from 512*i of one stream, so runs of ids stay runs.
func mooncake(files []File) (clients []workload.TraceClient, out []workload.TraceRow, err error) {
	stream := int64(workload.VocabularyStream())
	for c, f := range files {
		clients = append(clients, workload.TraceClient{Class: f.Name})
		for i, line := range bytes.Split(bytes.TrimSpace(f.Data), []byte("\n")) {
			var r mooncakeRow
			if err := strict.Foreign(f.Name, line, &r); err != nil {
				return nil, nil, onLine(err, i+1)
			}
			if err := r.check(f.Name, i+1); err != nil {
				return nil, nil, err
			}
			var prompt [][3]int64
			left := r.Input
			for _, h := range r.Hashes {
				n := min(left, mooncakeBlock)
				if k := len(prompt); k > 0 && prompt[k-1][1]+prompt[k-1][2] == h*mooncakeBlock {
					prompt[k-1][2] += n
				} else {
					prompt = append(prompt, [3]int64{stream, h * mooncakeBlock, n})
				}
				left -= n
			}
			t := row(c, int64(i), prompt, int(r.Output))
			at := *r.Timestamp * 1000
			t.At = &at
			out = append(out, t)
		}
	}
	return clients, out, nil
}

func onLine(err error, line int) error {
	if r, ok := errors.AsType[*diag.Refusal](err); ok {
		r.Line = line
	}
	return err
}

// azureRow is one request.
type azureRow struct {
	when           time.Time
	prompt, output int64
}

// azure reads TIMESTAMP,ContextTokens,GeneratedTokens (Azure/AzurePublicDataset@
// b469a113; P. Patel et al., Splitwise, ISCA 2024). Every row carries its own time, so
// their order says nothing: they are sorted, and times count from the earliest of all files.
func azure(files []File) (clients []workload.TraceClient, out []workload.TraceRow, err error) {
	all := make([][]azureRow, len(files))
	var origin time.Time
	for c, f := range files {
		clients = append(clients, workload.TraceClient{Class: f.Name})
		if all[c], err = azureRows(f); err != nil {
			return nil, nil, err
		}
		slices.SortStableFunc(all[c], func(a, b azureRow) int { return a.when.Compare(b.when) })
		if len(all[c]) > 0 {
			origin = earlier(origin, all[c][0].when)
		}
	}
	for c, rows := range all {
		for i, r := range rows {
			t := row(c, int64(i), own(c, int64(i), int(r.prompt)), int(r.output))
			at := micros(origin, r.when)
			t.At = &at
			out = append(out, t)
		}
	}
	return clients, out, nil
}

// earlier is the earlier of two times, the second for none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

func azureRows(f File) (out []azureRow, err error) {
	names := []string{"TIMESTAMP", "ContextTokens", "GeneratedTokens"}
	in := csv.NewReader(bytes.NewReader(f.Data))
	for first := true; ; first = false {
		cells, err := in.Read()
		if err == io.EOF {
			return out, nil
		}
		if e, ok := errors.AsType[*csv.ParseError](err); ok {
			return nil, refuse(f.Name, e.Line, "", "", e.Err.Error())
		}
		line, _ := in.FieldPos(0)
		if first {
			if !slices.Equal(cells, names) {
				return nil, &diag.Refusal{File: f.Name, Line: line, Value: strings.Join(cells, ","), Problem: "is not the header", Accept: strings.Join(names, ",")}
			}
			continue
		}
		var r azureRow
		if r.when, err = azureTime(cells[0]); err != nil {
			return nil, &diag.Refusal{File: f.Name, Line: line, Field: names[0], Value: cells[0], Problem: "is not a time", Accept: "e.g. 2023-11-16 18:17:03.9799600 or 2024-05-10 00:00:00.009930+00:00"}
		}
		for i, dst := range []*int64{&r.prompt, &r.output} {
			if *dst, err = strconv.ParseInt(cells[i+1], 10, 64); err != nil {
				return nil, &diag.Refusal{File: f.Name, Line: line, Field: names[i+1], Value: cells[i+1], Problem: "is not a count of tokens", Accept: fmt.Sprintf("1 to %d", spec.MaxTokens)}
			}
			if err := counts(f.Name, line, names[i+1], *dst); err != nil {
				return nil, err
			}
		}
		out = append(out, r)
	}
}

// azureTime reads the times of the releases of 2023, in UTC without saying so, and of 2024,
// with their offset. Either has no fraction where it is zero.
func azureTime(s string) (time.Time, error) {
	if t, err := time.Parse("2006-01-02 15:04:05Z07:00", s); err == nil {
		return t, nil
	}
	return time.Parse(time.DateTime, s)
}

// benchmarkServing reads a detailed result of vLLM's or InferenceX's
// benchmark_serving: with max_concurrency and an infinite rate a closed loop in
// list order, otherwise an open loop at start_times (seconds).
func benchmarkServing(files []File) (clients []workload.TraceClient, out []workload.TraceRow, err error) {
	for c, f := range files {
		clients = append(clients, workload.TraceClient{Class: f.Name})
		var r benchmarkRun
		if err := strict.Foreign(f.Name, f.Data, &r); err != nil {
			return nil, nil, err
		}
		if err := r.check(f.Name); err != nil {
			return nil, nil, err
		}
		if r.closed() {
			clients[c].Concurrency = r.Concurrency
		}
		begin := r.begin()
		for i := range r.Input {
			t := row(c, int64(i), own(c, int64(i), int(r.Input[i])), int(r.Output[i]))
			if r.closed() {
				end := max(-1, int64(i-r.Concurrency))
				t.AfterEnd = &end
			} else {
				at := workload.Microseconds(r.Start[i] - begin)
				t.At = &at
			}
			out = append(out, t)
		}
	}
	return clients, out, nil
}

// benchmarkRun is what a detailed result says of its requests.
type benchmarkRun struct {
	Rate        any       `json:"request_rate"`
	Concurrency int       `json:"max_concurrency"`
	Input       []int64   `json:"input_lens"`
	Output      []int64   `json:"output_lens"`
	Start       []float64 `json:"start_times"`
}

func (r *benchmarkRun) closed() bool { return fmt.Sprint(r.Rate) == "inf" && r.Concurrency > 0 }

// begin is the earliest start of an open loop, whose tasks need not start in list order.
func (r *benchmarkRun) begin() float64 {
	if r.closed() {
		return 0
	}
	return slices.Min(r.Start)
}

func (r *benchmarkRun) check(file string) error {
	switch {
	case len(r.Input) == 0 || len(r.Input) != len(r.Output):
		return refuse(file, 0, "input_lens", fmt.Sprint(len(r.Input)), "and output_lens do not list the requests; the client was run without --save-detailed")
	case !r.closed() && len(r.Start) != len(r.Input):
		return refuse(file, 0, "start_times", fmt.Sprint(len(r.Start)), "do not list the requests of an open loop")
	}
	begin := r.begin()
	for i := range r.Input {
		if r.Output[i] == 0 {
			return refuse(file, 0, fmt.Sprintf("output_lens[%d]", i), "0", "is a failed request, whose length was not recorded")
		}
		if err := cmp.Or(counts(file, 0, fmt.Sprintf("input_lens[%d]", i), r.Input[i]), counts(file, 0, fmt.Sprintf("output_lens[%d]", i), r.Output[i])); err != nil {
			return err
		}
		if !r.closed() && r.Start[i]-begin > float64(workload.Latest)/1e6 {
			return refuse(file, 0, fmt.Sprintf("start_times[%d]", i), fmt.Sprint(r.Start[i]), "is a time no run reaches")
		}
	}
	return nil
}

// span is one call of an OpenTelemetry trace (kubernetes-sigs/inference-perf@
// 7de5ef2e, examples/otel).
type span struct {
	Trace  string `json:"trace_id"`
	ID     string `json:"span_id"`
	Parent string `json:"parent_span_id"`
	Start  string `json:"start_time"`
	End    string `json:"end_time"`
	Attr   struct {
		Prompt int64 `json:"gen_ai.usage.prompt_tokens"`
		Output int64 `json:"gen_ai.usage.completion_tokens"`
	} `json:"attributes"`
}

// inferencePerf reads sessions of calls: a trace id is a session, a call follows
// the one before by the time between them, and its prompt is that call's prompt and
// output and new tokens. Times count from the earliest start of all files: traces need
// not follow one another.
func inferencePerf(files []File) (clients []workload.TraceClient, out []workload.TraceRow, err error) {
	docs := make([]struct{ Spans []span }, len(files))
	all := make([][]call, len(files))
	var origin time.Time
	for c, f := range files {
		clients = append(clients, workload.TraceClient{Class: f.Name})
		if err := strict.Foreign(f.Name, f.Data, &docs[c]); err != nil {
			return nil, nil, err
		}
		all[c] = make([]call, len(docs[c].Spans))
		for i := range docs[c].Spans {
			if all[c][i], err = docs[c].Spans[i].call(f.Name); err != nil {
				return nil, nil, err
			}
			origin = earlier(origin, all[c][i].start)
		}
	}
	for c, f := range files {
		more, err := calls(c, f.Name, docs[c].Spans, all[c], origin)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, more...)
	}
	return clients, out, nil
}

// call is what a session's next call continues.
type call struct {
	session        int64
	prompt, output int64
	start, end     time.Time
}

// call reads a span, without its session.
func (s *span) call(file string) (k call, err error) {
	at := "spans." + s.ID
	var err2 error
	k.start, err = parseTime(s.Start)
	k.end, err2 = parseTime(s.End)
	switch {
	case err != nil || err2 != nil || k.end.Before(k.start):
		return k, refuse(file, 0, at, s.Start, "has no start and end time in order")
	case s.Attr.Prompt == 0 || s.Attr.Output == 0:
		return k, refuse(file, 0, at, "", "states no gen_ai.usage.prompt_tokens and completion_tokens; text is not tokenised here")
	}
	k.prompt, k.output = s.Attr.Prompt, s.Attr.Output
	return k, cmp.Or(counts(file, 0, at+".gen_ai.usage.prompt_tokens", k.prompt), counts(file, 0, at+".gen_ai.usage.completion_tokens", k.output))
}

func calls(client int, file string, spans []span, all []call, origin time.Time) (out []workload.TraceRow, err error) {
	last := map[string]call{}
	for i, k := range all {
		s := &spans[i]
		before, follows := last[s.Trace]
		fresh := k.prompt
		k.session = int64(len(last))
		if follows {
			k.session, fresh = before.session, k.prompt-before.prompt-before.output
			if fresh < 1 || k.start.Before(before.end) {
				return nil, refuse(file, 0, "spans."+s.ID, fmt.Sprint(k.prompt), "does not continue the call before it in its trace")
			}
		}
		t := row(client, int64(i), own(client, int64(i), int(fresh)), int(k.output))
		t.Session = &k.session
		if follows {
			t.AfterRound, t.Wait = true, micros(before.end, k.start)
		} else {
			at := micros(origin, k.start)
			t.At = &at
		}
		last[s.Trace] = k
		out = append(out, t)
	}
	return out, nil
}

func parseTime(s string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t, nil
	}
	return time.Parse("2006-01-02T15:04:05.999999", s)
}
