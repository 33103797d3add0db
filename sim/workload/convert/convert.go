// Package convert turns other tools' workloads into traces.
//
// In: files of one format. Out: a trace (workload.OpenTrace) that keeps the
// source's arrivals, joint lengths, shared prefixes and sessions, and names the
// source. Formats that are input models rather than recordings are drawn from, by
// named substreams of a fixed seed. Nothing is scaled or left out silently: a
// record that cannot be kept is a refusal. Rule kept: DEV-7 (Target Design §8.6).
package convert

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/inference-sim/accuracy-dashboard/sim/workload"
)

// File is one input.
type File struct {
	Name string
	Data []byte
}

// rows converts files into rows; a row's Client indexes the clients it returns, each
// of a class of its own.
type rows func(files []File) (clients []workload.TraceClient, out []workload.TraceRow, err error)

var formats = map[string]rows{
	"mooncake":       mooncake,
	"azure":          azure,
	"vllm":           benchmarkServing,
	"inference-perf": inferencePerf,
	"servegen":       serveGen,
}

// Formats lists what To takes.
func Formats() []string {
	out := make([]string, 0, len(formats))
	for f := range formats { //determinism:any-order sorted below
		out = append(out, f)
	}
	slices.Sort(out)
	return out
}

// To writes the trace of files in format.
func To(w io.Writer, format string, files []File) error {
	convert, ok := formats[format]
	if !ok {
		return &diag.Refusal{Field: "--from", Value: format, Problem: "is not a format", Accept: diag.OneOf(format, Formats())}
	}
	clients, out, err := convert(files)
	if err != nil {
		return err
	}
	if len(out) == 0 {
		return &diag.Refusal{File: files[0].Name, Problem: "holds no request"}
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	t := workload.NewTraceWriter(w, format+" "+strings.Join(names, " "), clients)
	for i := range out {
		if err := out[i].Check(len(clients)); err != nil {
			return diag.In(clients[out[i].Client].Class, err)
		}
		t.WriteRow(&out[i])
	}
	return t.Close()
}

// own is a prompt that shares no token with any other request of the client.
func own(client int, n int64, tokens int) [][3]int64 {
	return [][3]int64{{int64(workload.PromptStream(client, n)), 0, int64(tokens)}}
}

// row is a request whose client states its output length.
func row(client int, n int64, prompt [][3]int64, output int) workload.TraceRow {
	return workload.TraceRow{Client: client, Prompt: prompt, Stream: int64(workload.OutputStream(client, n)), Length: output, MaxTokens: output}
}

// counts refuses a number of tokens that no request has.
func counts(file string, line int, field string, n int64) error {
	return within(file, line, field, n, 1, spec.MaxTokens)
}

func within(file string, line int, field string, n, low, high int64) error {
	if n < low || n > high {
		return &diag.Refusal{File: file, Line: line, Field: field, Value: fmt.Sprint(n), Problem: "is out of range", Accept: fmt.Sprintf("%d to %d", low, high)}
	}
	return nil
}

// micros is the microseconds from one time to a later one, whatever lies between them.
func micros(from, to time.Time) int64 {
	s, ns := to.Unix()-from.Unix(), to.Nanosecond()-from.Nanosecond()
	if ns < 0 {
		s, ns = s-1, ns+1e9
	}
	return s*1e6 + int64(ns/1000)
}

func refuse(file string, line int, field, value, problem string) error {
	return &diag.Refusal{File: file, Line: line, Field: field, Value: value, Problem: problem}
}
