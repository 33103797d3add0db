// Package convert turns other tools' workloads into traces.
//
// In: files of one format. Out: a trace (workload.OpenTrace) that keeps the
// source's arrivals, joint lengths, shared prefixes and sessions, and names the
// source. Formats that are input models rather than recordings are drawn from, by
// named substreams of a fixed seed. Nothing is scaled or left out silently: a
// record that cannot be kept is a refusal. Rule kept: DEV-7 (Target Design §8.6).
package convert

import (
	"io"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/sim/workload"
)

// File is one input.
type File struct {
	Name string
	Data []byte
}

// rows converts files into rows; a row's Client indexes the names it returns.
type rows func(files []File) (clients []string, out []workload.TraceRow, err error)

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
	labels := make([]workload.Label, len(clients))
	for i, c := range clients {
		labels[i].Class = c
	}
	t := workload.NewTraceWriter(w, format+" "+strings.Join(names, " "), labels)
	for i := range out {
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

func refuse(file string, line int, field, value, problem string) error {
	return &diag.Refusal{File: file, Line: line, Field: field, Value: value, Problem: problem}
}
