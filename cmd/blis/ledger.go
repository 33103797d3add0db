package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/spf13/cobra"
)

func ledgerCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "ledger",
		Short: "ingest measured runs, and show what is known of each",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(ledgerIngestCmd(), ledgerCheckCmd(), ledgerListCmd(), ledgerShowCmd(), ledgerScenarioCmd(), ledgerReportCmd())
	return c
}

// required marks a flag that exists; cobra fails only on one that does not.
func required(c *cobra.Command, flag string) {
	if err := c.MarkFlagRequired(flag); err != nil {
		panic(err)
	}
}

func readInput(path string) (ledger.Input, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return ledger.Input{}, &diag.Refusal{File: path, Problem: "cannot be read: " + reason(err), Accept: "a file of JSON lines"}
	}
	return ledger.Input{Name: path, Data: data}, nil
}

// reason is the cause of a path error without its path, which the refusal names.
func reason(err error) string {
	if p, ok := err.(*fs.PathError); ok {
		return p.Err.Error()
	}
	return err.Error()
}

func ledgerListCmd() *cobra.Command {
	var role string
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "list units, one a line",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			roles := []string{"fit", "anchor", "unlisted", "all"}
			if !slices.Contains(roles, role) {
				return exit.UsageError(&diag.Refusal{Field: "--role", Value: role, Problem: "unknown role", Accept: diag.OneOf(role, roles)})
			}
			l, err := openLedger(c)
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			for i := range l.Units {
				u := &l.Units[i]
				if role != "all" && string(l.Role(u)) != role {
					continue
				}
				if err := printUnit(w, l, u, asJSON); err != nil {
					return err
				}
			}
			return w.Flush()
		},
	}
	c.Flags().StringVar(&role, "role", "all", "fit, anchor, unlisted or all")
	c.Flags().BoolVar(&asJSON, "json", false, "print each unit as JSON")
	addLedgerFlag(c)
	return c
}

func printUnit(w io.Writer, l *ledger.Ledger, u *ledger.Unit, asJSON bool) error {
	if asJSON {
		b, err := canon.JSON(u)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "%s\n", b)
		return err
	}
	m := u.Measurements[0]
	_, err := fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s/%s\tc%d\tttft %.1f ms\ttpot %.2f ms\n", u.ID, l.Role(u), u.Framework, u.Model, u.Hardware,
		u.Precision, tokens(u.Serving.ISL), tokens(u.Serving.OSL), u.Concurrency, m.TTFTMeanMS, m.TPOTMeanMS)
	return err
}

func tokens(n *int) string {
	if n == nil {
		return "?"
	}
	return fmt.Sprint(*n)
}

func ledgerShowCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "show UNIT",
		Short: "print one unit as JSON: identity, recorded configuration, frame, measurements",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			l, err := openLedger(c)
			if err != nil {
				return err
			}
			u, err := l.Find(args[0])
			if err != nil {
				return err
			}
			return printJSON(c.OutOrStdout(), u)
		},
	}
	addLedgerFlag(c)
	return c
}

func ledgerReportCmd() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "report",
		Short: "print how every record read was kept, joined, merged or left out",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			l, err := openLedger(c)
			if err != nil {
				return err
			}
			if !asJSON {
				printIngest(c.OutOrStdout(), &l.Report)
				return nil
			}
			return printJSON(c.OutOrStdout(), l.Report)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the whole report, with every record left out")
	addLedgerFlag(c)
	return c
}

func printIngest(w io.Writer, r *ledger.Report) {
	fmt.Fprintf(w, "%d records: %d kept, %d joined, %d merged, %d left out; %d units of %d role keys\n",
		r.Records.Read, r.Records.Kept, r.Records.Joined, r.Records.Merged, r.Records.LeftOut, r.Units, r.RoleKeys)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, c := range r.Rules {
		fmt.Fprintf(t, "%d\t%s\t  %s: %s\n", c.Records, c.Disposition, c.Rule, c.Text)
	}
	for _, c := range r.Notes {
		fmt.Fprintf(t, "%d\tnoted\t  %s: %s\n", c.Records, c.Note, c.Text)
	}
	t.Flush()
	for _, role := range []ledger.Role{ledger.Fit, ledger.Anchor} {
		p := r.Published[role]
		fmt.Fprintf(w, "%s: %d ids listed: %d units, %d merged under another identity, %d left out, %d not in this source\n",
			role, p.Listed, p.Units, p.Merged, p.LeftOut, p.Absent)
	}
	fmt.Fprintf(w, "unlisted: %d units\n", r.Unlisted)
}

func addLedgerFlag(c *cobra.Command) {
	c.Flags().String("ledger", "", "a directory ledger ingest made, instead of the embedded ledger")
}

// openLedger opens the directory --ledger names, or the embedded ledger.
func openLedger(c *cobra.Command) (*ledger.Ledger, error) {
	dir, err := c.Flags().GetString("ledger")
	if err != nil {
		return nil, err
	}
	if dir == "" {
		return ledger.Embedded()
	}
	return openLedgerDir("--ledger", dir)
}

func openLedgerDir(flag, dir string) (*ledger.Ledger, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, &diag.Refusal{Field: flag, Value: dir, Problem: "cannot be opened: " + reason(err), Accept: "a directory that ledger ingest made"}
	}
	defer root.Close()
	l, err := ledger.Open(root.FS())
	return l, diag.In(dir, err)
}
