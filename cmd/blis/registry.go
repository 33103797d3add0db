package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/internal/plot"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/registry"
	"github.com/inference-sim/accuracy-dashboard/registry/fit"
	"github.com/spf13/cobra"
)

// registryCmd writes, judges and compares coefficients.
func registryCmd() *cobra.Command {
	c := &cobra.Command{Use: "registry", Short: "fit, judge and compare coefficients"}
	c.AddCommand(registryFitCmd(), registryReportCmd(), registryDiffCmd(), registryLanesCmd())
	return c
}

func runFits(tables string) (*fit.Result, *catalog.Catalog, error) {
	cat, err := catalog.Embedded()
	if err != nil {
		return nil, nil, err
	}
	res, err := fit.Run(cat, os.DirFS(tables))
	return res, cat, err
}

func registryFitCmd() *cobra.Command {
	var q fitQuery
	c := &cobra.Command{
		Use: "fit", Short: "fit operator tables, or read acceptance lengths, and write the registry's files", Args: cobra.NoArgs,
		Example: "  blis registry fit --tables tables --out registry/data --check\n  blis registry fit --lengths lengths.jsonl --out registry/acceptance",
		RunE: func(cmd *cobra.Command, _ []string) error {
			files, err := q.files(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if q.check {
				return checkFiles(files, q.out)
			}
			return writeFiles(files, q.out)
		},
	}
	c.Flags().StringVar(&q.tables, "tables", "", "directory of <chip>/<family>/<engine>/<version>/<table>.csv.gz")
	c.Flags().StringVar(&q.lengths, "lengths", "", "file of acceptance-length documents, one JSON object a line; profiles.yaml is written")
	c.Flags().StringVar(&q.out, "out", "registry/data", "directory to write")
	c.Flags().BoolVar(&q.check, "check", false, "write nothing; fail unless the directory holds these very bytes")
	c.MarkFlagsOneRequired("tables", "lengths")
	c.MarkFlagsMutuallyExclusive("tables", "lengths")
	return c
}

type fitQuery struct {
	tables, lengths, out string
	check                bool
}

// files are what the tables, or the lengths, give rise to. What lengths are left out is
// said on log.
func (q *fitQuery) files(log io.Writer) (fit.Files, error) {
	if q.lengths == "" {
		res, cat, err := runFits(q.tables)
		if err != nil {
			return nil, err
		}
		return res.Files(cat)
	}
	cat, err := catalog.Embedded()
	if err != nil {
		return nil, err
	}
	in, err := os.Open(q.lengths)
	if err != nil {
		return nil, &diag.Refusal{Field: "--lengths", Value: q.lengths, Problem: "cannot be read: " + err.Error(), Accept: "a file with one JSON object a line"}
	}
	defer in.Close()
	profiles, skipped, err := fit.Acceptance(cat, in)
	for _, s := range skipped {
		fmt.Fprintln(log, "left out:", s)
	}
	return fit.Files{"profiles.yaml": profiles}, diag.In(q.lengths, err)
}

func checkFiles(files fit.Files, dir string) error {
	differ, err := files.Check(os.DirFS(dir))
	if err == nil && len(differ) > 0 {
		err = &exit.CheckFailed{What: fmt.Sprintf("%s: %s (%d in all)", dir, differ[0], len(differ))}
	}
	return err
}

func writeFiles(files fit.Files, dir string) error {
	for name, data := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(p, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func registryReportCmd() *cobra.Command {
	var q reportQuery
	c := &cobra.Command{
		Use: "report", Short: "errors on shapes and chips no fit saw, by primitive", Args: cobra.NoArgs,
		Long: "Prints the report of the fits that wrote this build's registry. With --tables the fits are made again and judged.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			rep, err := q.report()
			if err != nil {
				return err
			}
			return printReport(cmd.OutOrStdout(), rep)
		},
	}
	c.Flags().StringVar(&q.tables, "tables", "", "directory of operator tables to fit again")
	c.Flags().StringVar(&q.out, "out", "", "file for the report as JSON")
	c.Flags().StringVar(&q.plots, "plots", "", "directory for the charts as SVG; needs --tables")
	return c
}

type reportQuery struct{ tables, out, plots string }

func (q *reportQuery) report() (*fit.Report, error) {
	rep, err := q.fitted()
	if err != nil || q.out == "" {
		return rep, err
	}
	b, err := canon.Indent(rep)
	if err != nil {
		return nil, err
	}
	return rep, os.WriteFile(q.out, b, 0o644)
}

func (q *reportQuery) fitted() (*fit.Report, error) {
	if q.tables == "" && q.plots != "" {
		return nil, exit.UsageError(errors.New("--plots draws the fits of --tables DIR; give both"))
	}
	if q.tables == "" {
		return fit.Published()
	}
	res, cat, err := runFits(q.tables)
	if err != nil {
		return nil, err
	}
	if q.plots != "" {
		if err := drawFits(res, q.plots); err != nil {
			return nil, err
		}
	}
	return res.Report(cat)
}

func drawFits(res *fit.Result, dir string) error {
	charts, err := res.Charts()
	if err != nil {
		return err
	}
	files := fit.Files{}
	for _, c := range charts {
		if files[c.ID+".svg"], err = plot.SVG(c, plot.Light); err != nil {
			return err
		}
	}
	return writeFiles(files, dir)
}

func printReport(w io.Writer, rep *fit.Report) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "primitive\tkernels\tshapes\tvalues\theld out\tmedian\tp95\tbias\tfrontier\tmedian\tp95\ttable median\tp95\tchip out\tmedian\tp95\tsame arch\tmedian\tp95\t\n")
	for _, p := range rep.Families {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%d\t%s\t%s\t\n", p.Primitive, p.Kernels, p.Shapes, p.Values,
			p.Held.N, pct(p.Held.Median), pct(p.Held.P95), pct(p.Held.Bias), p.Frontier.N, pct(p.Frontier.Median), pct(p.Frontier.P95),
			pct(p.Table.Median), pct(p.Table.P95), p.LeftOut.N, pct(p.LeftOut.Median), pct(p.LeftOut.P95), p.Same.N, pct(p.Same.Median), pct(p.Same.P95))
	}
	fmt.Fprintf(t, "\t\none chip left out\tchip\tmethod\tdonor\tshapes\tmedian\tp95\tbias\t\n")
	for _, l := range rep.LeftOut {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t\n", l.Primitive, l.Chip, l.Method, l.Donor, l.Error.N,
			pct(l.Error.Median), pct(l.Error.P95), pct(l.Error.Bias))
	}
	return t.Flush()
}

func pct(v float64) string { return fmt.Sprintf("%.1f%%", 100*v) }

func registryDiffCmd() *cobra.Command {
	return &cobra.Command{
		Use: "diff A B", Short: "entries two registries do not share, and how far their curves moved", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			var opened [2]*registry.Registry
			for i, dir := range dirs {
				fsys, err := world.Directory(dir)
				if err != nil {
					return err
				}
				if opened[i], err = registry.Open(fsys); err != nil {
					return err
				}
			}
			changes, err := registry.Diff(opened[0], opened[1])
			for _, d := range changes {
				fmt.Fprintln(cmd.OutOrStdout(), d)
			}
			return err
		},
	}
}
