package convert

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/inference-sim/accuracy-dashboard/internal/strict"
	"github.com/inference-sim/accuracy-dashboard/sim/workload"
)

// mooncakeBlock is the tokens of one hash id (kvcache-ai/Mooncake@3b5a5941,
// FAST25-release/traces).
const mooncakeBlock = 512

// mooncake reads JSON lines of timestamp (ms), input_length, output_length and
// hash_ids, one a block of the prompt. Equal ids are equal tokens: block i is the
// tokens from 512*i of one stream, so runs of ids stay runs.
func mooncake(files []File) (clients []string, out []workload.TraceRow, err error) {
	stream := int64(workload.VocabularyStream())
	for c, f := range files {
		clients = append(clients, f.Name)
		for i, line := range bytes.Split(bytes.TrimSpace(f.Data), []byte("\n")) {
			var r struct {
				Timestamp int64   `json:"timestamp"`
				Input     int64   `json:"input_length"`
				Output    int     `json:"output_length"`
				Hashes    []int64 `json:"hash_ids"`
			}
			if err := json.Unmarshal(line, &r); err != nil {
				return nil, nil, refuse(f.Name, i+1, "", "", err.Error())
			}
			blocks := (r.Input + mooncakeBlock - 1) / mooncakeBlock
			if r.Input < 1 || r.Output < 1 || int64(len(r.Hashes)) != blocks {
				return nil, nil, refuse(f.Name, i+1, "hash_ids", fmt.Sprint(len(r.Hashes)), fmt.Sprintf("do not cover %d tokens of input and %d of output", r.Input, r.Output))
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
			t := row(c, int64(i), prompt, r.Output)
			at := r.Timestamp * 1000
			t.At = &at
			out = append(out, t)
		}
	}
	return clients, out, nil
}

// azure reads TIMESTAMP,ContextTokens,GeneratedTokens (Azure/AzurePublicDataset@
// b469a113; P. Patel et al., Splitwise, ISCA 2024). Times count from the first row.
func azure(files []File) (clients []string, out []workload.TraceRow, err error) {
	for c, f := range files {
		clients = append(clients, f.Name)
		lines, err := csv.NewReader(bytes.NewReader(f.Data)).ReadAll()
		if err != nil || len(lines) < 2 || len(lines[0]) != 3 {
			return nil, nil, refuse(f.Name, 1, "", "", "is not TIMESTAMP,ContextTokens,GeneratedTokens")
		}
		var first time.Time
		for i, l := range lines[1:] {
			when, err := time.Parse("2006-01-02 15:04:05.0000000", l[0])
			prompt, err2 := strconv.Atoi(l[1])
			output, err3 := strconv.Atoi(l[2])
			if err != nil || err2 != nil || err3 != nil || prompt < 1 || output < 1 {
				return nil, nil, refuse(f.Name, i+2, "", fmt.Sprint(l), "is not a request with a time and two counts of 1 or more")
			}
			if i == 0 {
				first = when
			}
			t := row(c, int64(i), own(c, int64(i), prompt), output)
			at := when.Sub(first).Microseconds()
			t.At = &at
			out = append(out, t)
		}
	}
	return clients, out, nil
}

// benchmarkServing reads a detailed result of vLLM's or InferenceX's
// benchmark_serving: with max_concurrency and an infinite rate a closed loop in
// list order, otherwise an open loop at start_times (seconds).
func benchmarkServing(files []File) (clients []string, out []workload.TraceRow, err error) {
	for c, f := range files {
		clients = append(clients, f.Name)
		var r struct {
			Rate        any       `json:"request_rate"`
			Concurrency int       `json:"max_concurrency"`
			Input       []int     `json:"input_lens"`
			Output      []int     `json:"output_lens"`
			Start       []float64 `json:"start_times"`
		}
		if err := json.Unmarshal(f.Data, &r); err != nil {
			return nil, nil, refuse(f.Name, 0, "", "", err.Error())
		}
		closed := fmt.Sprint(r.Rate) == "inf" && r.Concurrency > 0
		switch {
		case len(r.Input) == 0 || len(r.Input) != len(r.Output):
			return nil, nil, refuse(f.Name, 0, "input_lens", fmt.Sprint(len(r.Input)), "and output_lens do not list the requests; the client was run without --save-detailed")
		case !closed && len(r.Start) != len(r.Input):
			return nil, nil, refuse(f.Name, 0, "start_times", fmt.Sprint(len(r.Start)), "do not list the requests of an open loop")
		}
		for i := range r.Input {
			if r.Input[i] < 1 || r.Output[i] < 1 {
				return nil, nil, refuse(f.Name, 0, fmt.Sprintf("output_lens[%d]", i), fmt.Sprint(r.Output[i]), "is a failed request, whose length was not recorded")
			}
			t := row(c, int64(i), own(c, int64(i), r.Input[i]), r.Output[i])
			if closed {
				end := max(-1, int64(i-r.Concurrency))
				t.AfterEnd = &end
			} else {
				at := workload.Microseconds(r.Start[i] - r.Start[0])
				t.At = &at
			}
			out = append(out, t)
		}
	}
	return clients, out, nil
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
		Prompt int `json:"gen_ai.usage.prompt_tokens"`
		Output int `json:"gen_ai.usage.completion_tokens"`
	} `json:"attributes"`
}

// inferencePerf reads sessions of calls: a trace id is a session, a call follows
// the one before by the time between them, and its prompt is that call's prompt and
// output and new tokens.
func inferencePerf(files []File) (clients []string, out []workload.TraceRow, err error) {
	for c, f := range files {
		clients = append(clients, f.Name)
		if err := strict.JSON(f.Name, f.Data, new(any)); err != nil {
			return nil, nil, err
		}
		var doc struct{ Spans []span }
		if err := json.Unmarshal(f.Data, &doc); err != nil {
			return nil, nil, refuse(f.Name, 0, "", "", err.Error())
		}
		more, err := calls(c, f.Name, doc.Spans)
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
	prompt, output int
	end            time.Time
}

func calls(client int, file string, spans []span) (out []workload.TraceRow, err error) {
	last := map[string]call{}
	var origin time.Time
	for i, s := range spans {
		start, err := parseTime(s.Start)
		end, err2 := parseTime(s.End)
		if err != nil || err2 != nil || end.Before(start) {
			return nil, refuse(file, 0, "spans."+s.ID, s.Start, "has no start and end time in order")
		}
		if s.Attr.Prompt < 1 || s.Attr.Output < 1 {
			return nil, refuse(file, 0, "spans."+s.ID, "", "states no gen_ai.usage.prompt_tokens and completion_tokens; text is not tokenised here")
		}
		if i == 0 {
			origin = start
		}
		before, follows := last[s.Trace]
		fresh, session := s.Attr.Prompt, int64(len(last))
		if follows {
			session, fresh = before.session, s.Attr.Prompt-before.prompt-before.output
			if fresh < 1 || start.Before(before.end) {
				return nil, refuse(file, 0, "spans."+s.ID, fmt.Sprint(s.Attr.Prompt), "does not continue the call before it in its trace")
			}
		}
		t := row(client, int64(i), own(client, int64(i), fresh), s.Attr.Output)
		t.Session = &session
		if follows {
			t.AfterRound, t.Wait = true, start.Sub(before.end).Microseconds()
		} else {
			at := start.Sub(origin).Microseconds()
			t.At = &at
		}
		last[s.Trace] = call{session, s.Attr.Prompt, s.Attr.Output, end}
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
