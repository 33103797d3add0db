package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/spf13/cobra"
)

// ingest is what the user named.
type ingest struct{ source, rows, launch, out, base, legacy string }

// sources are the formats that can be read, by name.
var sources = []struct {
	name string
	read func(o *ingest, published ledger.Published) (*ledger.Ledger, error)
}{
	{"inferencex", func(o *ingest, published ledger.Published) (*ledger.Ledger, error) {
		rows, err := readInput(o.rows)
		if err != nil {
			return nil, err
		}
		facts, err := readInput(o.launch)
		if err != nil {
			return nil, err
		}
		return ledger.Ingest(rows, facts, published)
	}},
	{"benchmark-serving", func(o *ingest, published ledger.Published) (*ledger.Ledger, error) {
		results, err := readInputs(o.rows)
		if err != nil {
			return nil, err
		}
		facts, err := readInput(o.launch)
		if err != nil {
			return nil, err
		}
		return ledger.IngestBenchmarkServing(results, facts, published)
	}},
}

func ledgerIngestCmd() *cobra.Command {
	o := new(ingest)
	c := &cobra.Command{
		Use:   "ingest --rows FILE|DIR --launch FILE --out DIR",
		Short: "turn a source's rows and launch facts into a ledger directory",
		Long: "Turns a source's rows and launch facts into a ledger directory: units, the report that accounts for every record, and the\n" +
			"published role lists of this build. The same files always give the same bytes. DIR is replaced whole or left alone.\n\n" +
			"  inferencex         rows and launch facts are JSON lines, joined by row_id\n" +
			"  benchmark-serving  rows is a directory of result files that vLLM's benchmark_serving or InferenceX's client saved;\n" +
			"                     launch is one JSON object that holds for all: model, chip, server arguments, client\n\n" +
			"With --base, the new ledger keeps the roles of an older one: aliases are generated where an identity changed, partition and\n" +
			"legacy sides are carried over, and a lost unit or a changed role is refused.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			l, err := o.run()
			if err != nil {
				return err
			}
			if err := c.Context().Err(); err != nil {
				return err
			}
			if err := l.Write(o.out); err != nil {
				return err
			}
			printIngest(c.OutOrStdout(), &l.Report)
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&o.source, "source", "inferencex", "the source the files are of: inferencex or benchmark-serving")
	f.StringVar(&o.rows, "rows", "", "the source's rows, or the directory of result files")
	f.StringVar(&o.launch, "launch", "", "launch facts")
	f.StringVar(&o.out, "out", "", "directory to write")
	f.StringVar(&o.base, "base", "", "an older ledger directory whose roles are kept")
	f.StringVar(&o.legacy, "legacy", "", "labels of a partition made before the ledger, JSON lines: legacy_id, label (FIT or HELD), row_id")
	for _, name := range []string{"rows", "launch", "out"} {
		required(c, name)
	}
	return c
}

func (o *ingest) run() (*ledger.Ledger, error) {
	var names []string
	for _, s := range sources {
		names = append(names, s.name)
		if s.name != o.source {
			continue
		}
		published, err := ledger.OpenPublished(ledger.EmbeddedFS())
		if err != nil {
			return nil, err
		}
		l, err := s.read(o, published)
		if err != nil {
			return nil, err
		}
		return l, o.keep(l)
	}
	return nil, exit.UsageError(&diag.Refusal{Field: "--source", Value: o.source, Problem: "unknown source", Accept: diag.OneOf(o.source, names)})
}

// keep applies an earlier partition and an earlier ledger to l.
func (o *ingest) keep(l *ledger.Ledger) error {
	if o.legacy != "" {
		table, err := readInput(o.legacy)
		if err != nil {
			return err
		}
		if err := l.MapLegacy(table); err != nil {
			return err
		}
	}
	if o.base == "" {
		return nil
	}
	base, err := openLedgerDir("--base", o.base)
	if err != nil {
		return err
	}
	return l.Grow(base)
}

func ledgerCheckCmd() *cobra.Command {
	var base string
	c := &cobra.Command{
		Use:   "check --base DIR",
		Short: "check that a ledger lost no unit and changed no role since an older one",
		Long: "Checks a ledger against an older one: every unit is there under its id or an alias, every published role holds, the alias\n" +
			"table is the generated one. A higher partition version may redraw roles. Exits with 3 and names the first difference.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			l, err := openLedger(c)
			if err != nil {
				return err
			}
			old, err := openLedgerDir("--base", base)
			if err != nil {
				return err
			}
			if err := l.Succeeds(old); err != nil {
				return failed(err)
			}
			fmt.Fprintf(c.OutOrStdout(), "no unit lost, no role changed: %d units before, %d now, %d aliases\n", len(old.Units), len(l.Units), len(l.Aliases))
			return nil
		},
	}
	c.Flags().StringVar(&base, "base", "", "the older ledger directory")
	required(c, "base")
	addLedgerFlag(c)
	return c
}

// failed turns the refusal of a check into exit code 3.
func failed(err error) error {
	if r, ok := errors.AsType[*diag.Refusal](err); ok {
		return &exit.CheckFailed{What: r.Error()}
	}
	return err
}

// readInputs reads the result files of a directory.
func readInputs(dir string) ([]ledger.Input, error) {
	names, err := fs.Glob(os.DirFS(dir), "*.json")
	if err == nil && len(names) == 0 {
		_, err = os.Stat(dir)
	}
	if err != nil {
		return nil, &diag.Refusal{File: dir, Problem: "cannot be read: " + reason(err), Accept: "a directory of *.json result files"}
	}
	var inputs []ledger.Input
	for _, n := range names {
		in, err := readInput(filepath.Join(dir, n))
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, in)
	}
	return inputs, nil
}
