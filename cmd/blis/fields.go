package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/builtin"
	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/spf13/cobra"
)

// fieldsCmd shows what an engine port knows of every setting of its release.
func fieldsCmd() *cobra.Command {
	var q fieldsQuery
	c := &cobra.Command{
		Use:   "fields [NAME | --unclassified-in-data [FILE]]",
		Short: "what an engine port knows of every setting of its release",
		Long: "Each setting is modelled (with the test that shows it), inert (with the argument), not modelled (with why) or removed upstream. " +
			"With --unclassified-in-data, list the settings that launches of the ledger, or of FILE, pass and that have neither a status that runs nor an estimation rule.",
		Example: "  blis fields --engine vllm --status removed\n  blis fields --engine vllm max-num-seqs\n  blis fields --engine vllm --unclassified-in-data",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, err := findKind(q.engine)
			if err != nil {
				return err
			}
			switch {
			case q.data == embedded && len(args) == 1: // the flag's value is optional, so FILE after a space is an argument
				q.data = args[0]
				fallthrough
			case q.data != "":
				return q.unclassified(cmd.OutOrStdout(), kind)
			case len(args) == 1:
				return q.one(cmd.OutOrStdout(), kind, args[0])
			}
			return q.list(cmd.OutOrStdout(), kind.Fields())
		},
	}
	f := c.Flags()
	f.StringVar(&q.engine, "engine", "vllm", "engine port")
	f.StringVar(&q.status, "status", "", "only fields of this status")
	f.StringVar(&q.data, "unclassified-in-data", "", "JSONL file of recorded launches, the ledger's own if left out")
	f.Lookup("unclassified-in-data").NoOptDefVal = embedded
	f.BoolVar(&q.json, "json", false, "print the list as JSON")
	return c
}

type fieldsQuery struct {
	engine, status, data string
	json                 bool
}

func findKind(name string) (engines.Kind, error) {
	kinds, err := builtin.Kinds()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, k := range kinds {
		if k.Name() == name {
			return k, nil
		}
		names = append(names, k.Name())
	}
	return nil, exit.UsageError(&diag.Refusal{Field: "--engine", Value: name, Problem: "is not in this program", Accept: diag.OneOf(name, names), Rule: "SIM-1"})
}

func (q *fieldsQuery) list(w io.Writer, l *fields.List) error {
	if q.status != "" && !slices.Contains(fields.Statuses(), q.status) {
		return exit.UsageError(&diag.Refusal{Field: "--status", Value: q.status, Problem: "unknown status", Accept: diag.OneOf(q.status, fields.Statuses()), Rule: "X9"})
	}
	shown := slices.DeleteFunc(slices.Clone(l.Fields), func(f fields.Field) bool { return q.status != "" && string(f.Status) != q.status })
	if q.json {
		return writeJSON(w, shown)
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for i := range shown {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", shown[i].Name, shown[i].Kind, shown[i].Status, shown[i].Evidence)
	}
	counts := l.Counts()
	for _, s := range fields.Statuses() {
		fmt.Fprintf(t, "%d %s\t\t\t\n", counts[fields.Status(s)], s)
	}
	return t.Flush()
}

func (q *fieldsQuery) one(w io.Writer, kind engines.Kind, name string) error {
	l := kind.Fields()
	f := l.Covering(name, false)
	if f == nil {
		f = l.Covering(name, true)
	}
	if f == nil {
		return &diag.Refusal{Field: "field", Value: name, Problem: "is no setting of " + kind.Upstream().Version, Accept: nearestField(l, name), Rule: "X9"}
	}
	return writeJSON(w, f)
}

func nearestField(l *fields.List, name string) string {
	var names []string
	for i := range l.Fields {
		names = append(names, l.Fields[i].Name)
	}
	if near := diag.Nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	return "a name `blis fields` lists"
}

func writeJSON(w io.Writer, v any) error {
	b, err := canon.Indent(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", b)
	return err
}

// recordedLaunch is the part of a launch record that names the engine and what it
// was passed.
type recordedLaunch struct {
	Row    string `json:"row_id"`
	Config struct {
		Entry struct {
			Framework string `json:"framework"`
		} `json:"entry"`
	} `json:"config"`
	Args map[string]any    `json:"server_args"`
	Env  map[string]string `json:"env"`
}

// embedded stands for the launches of the ledger that is compiled in.
const embedded = "ledger"

// unclassified prints each setting once with the number of launches that pass it.
func (q *fieldsQuery) unclassified(w io.Writer, kind engines.Kind) error {
	read := q.fileLaunches
	if q.data == embedded {
		read = ledgerLaunches
	}
	counts, launches := map[string]int{}, 0
	err := read(func(framework string, args map[string]any, env map[string]string) {
		if framework != kind.Name() {
			return
		}
		launches++
		for _, name := range kind.Fields().Unclassified(args, env) {
			counts[name]++
		}
	})
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(counts))
	for _, n := range names {
		fmt.Fprintf(w, "%s\t%d launches\n", n, counts[n])
	}
	if len(names) > 0 {
		return &exit.CheckFailed{What: fmt.Sprintf("%d settings of %d %s launches are unclassified", len(names), launches, kind.Name())}
	}
	return nil
}

// fileLaunches yields the launches of a file of launch facts.
func (q *fieldsQuery) fileLaunches(yield func(string, map[string]any, map[string]string)) error {
	f, err := os.Open(q.data)
	if err != nil {
		return &diag.Refusal{File: q.data, Problem: "cannot be read: " + err.Error()}
	}
	defer f.Close()
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, 1<<24)
	for line := 1; scan.Scan(); line++ {
		var r recordedLaunch
		if err := json.Unmarshal(scan.Bytes(), &r); err != nil {
			return &diag.Refusal{File: q.data, Line: line, Problem: err.Error()}
		}
		yield(r.Config.Entry.Framework, r.Args, r.Env)
	}
	if err := scan.Err(); err != nil {
		return &diag.Refusal{File: q.data, Problem: err.Error()}
	}
	return nil
}

// ledgerLaunches yields the configurations of every unit of the embedded ledger.
func ledgerLaunches(yield func(string, map[string]any, map[string]string)) error {
	l, err := ledger.Embedded()
	if err != nil {
		return err
	}
	for _, u := range l.Units {
		for _, c := range u.Configurations {
			yield(u.Framework, c.ServerArgs, c.Env)
		}
	}
	return nil
}
