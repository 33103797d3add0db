package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/internal/swap"
	"github.com/inference-sim/accuracy-dashboard/invariants"
	"github.com/spf13/cobra"
)

// invariantsCmd shows the project's rules and runs their checks.
func invariantsCmd() *cobra.Command {
	c := &cobra.Command{Use: "invariants", Short: "the project's rules: list, show, check"}
	c.AddCommand(rulesListCmd(), rulesShowCmd(), rulesCheckCmd())
	return c
}

func rulesListCmd() *cobra.Command {
	asJSON, status := false, ""
	c := &cobra.Command{
		Use: "list", Short: "every rule with its status", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			records, err := invariants.Records()
			if err != nil {
				return err
			}
			if status != "" {
				if all := invariants.Statuses(); !slices.Contains(all, invariants.Status(status)) {
					return exit.UsageError(&diag.Refusal{Field: "--status", Value: status, Problem: "unknown status", Accept: diag.OneOf(status, words(all))})
				}
				records = slices.DeleteFunc(records, func(r invariants.Record) bool { return string(r.Status) != status })
			}
			if asJSON {
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", "  ")
				return e.Encode(records)
			}
			t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
			for _, r := range records {
				fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r.ID, r.Status, r.Kind, r.Title)
			}
			if err := t.Flush(); err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), countByStatus(records))
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the records as JSON")
	c.Flags().StringVar(&status, "status", "", "only rules with this status: ci, review, partial or new")
	return c
}

func words(statuses []invariants.Status) (out []string) {
	for _, s := range statuses {
		out = append(out, string(s))
	}
	return out
}

func countByStatus(records []invariants.Record) string {
	with := map[invariants.Status]int{}
	for _, r := range records {
		with[r.Status]++
	}
	parts := []string{count(len(records), "rule")}
	for _, s := range invariants.Statuses() {
		parts = append(parts, fmt.Sprintf("%d %s", with[s], s))
	}
	return strings.Join(parts, ", ")
}

func rulesShowCmd() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "what a rule means, why, where it is checked, and how far", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			records, err := invariants.Records()
			if err != nil {
				return err
			}
			found, err := pick(records, args)
			if err != nil {
				return err
			}
			return drawRule(cmd.OutOrStdout(), found[0])
		},
	}
}

// pick is the records with the ids.
func pick(records []invariants.Record, ids []string) (out []invariants.Record, err error) {
	for _, id := range ids {
		i := slices.IndexFunc(records, func(r invariants.Record) bool { return strings.EqualFold(r.ID, id) })
		if i < 0 {
			var known []string
			for _, r := range records {
				known = append(known, r.ID)
			}
			accept := "an id that `blis invariants list` names"
			if near := diag.Nearest(id, known); near != "" {
				accept = "did you mean " + near + "?"
			}
			return nil, &diag.Refusal{Field: "ID", Value: id, Problem: "is no rule", Accept: accept}
		}
		out = append(out, records[i])
	}
	return out, nil
}

func drawRule(w io.Writer, r invariants.Record) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "%s  %s\n\n%s\n\n", r.ID, r.Title, r.Statement)
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(t, "%s\t%s\n", name, text)
		}
	}
	line("why", r.Why)
	line("source", "Target Design "+r.Section)
	line("where", strings.Join(r.Scope, ", "))
	line("kind", string(r.Kind))
	line("status", string(r.Status))
	line("missing", r.Target)
	line("here", r.Became)
	line("reviewer answers", r.Ask)
	line("maintainers keep", r.Practice)
	line("authors follow", r.Guidance)
	for _, c := range r.Checks {
		line("checked by", c.Test)
		if c.Bad != c.Test {
			line("must reject", c.Bad)
		}
		if c.Break != nil {
			line("must fail when", fmt.Sprintf("%s reads %q for %q", c.Break.File, c.Break.To, c.Break.From))
		}
	}
	return t.Flush()
}

func rulesCheckCmd() *cobra.Command {
	dir, out, run := ".", "", false
	c := &cobra.Command{
		Use: "check [ID...]", Short: "hold records and imports to the source tree, and run the checks the records name",
		Long: "Without --run, sources are read and compared with the records; with ids, only what names one of them is reported. With --run, the named tests run with the go command, which needs a toolchain: each must pass, none may skip itself, and each must fail on a copy of the tree that is broken as its record forbids. With --out, how each rule's checks ended on which tree is written, for the page of rules of `blis-score --rules`.",
		RunE: func(cmd *cobra.Command, ids []string) error {
			records, err := invariants.Records()
			if err != nil {
				return err
			}
			if out != "" && (!run || len(ids) > 0) {
				return exit.UsageError(&diag.Refusal{Field: "--out", Value: out, Problem: "says how the checks of every rule ended", Accept: "with --run and no ID"})
			}
			asked := records
			if len(ids) > 0 {
				if asked, err = pick(records, ids); err != nil {
					return err
				}
			}
			found, err := findings(dir, records, asked)
			if err != nil {
				return err
			}
			for _, f := range found {
				fmt.Fprintln(cmd.OutOrStdout(), f)
			}
			failed := 0
			if run {
				measured, err := runChecks(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), dir, asked)
				if err == nil && out != "" {
					err = writeRun(out, measured)
				}
				if err != nil {
					return err
				}
				failed = failures(measured)
			}
			fmt.Fprintln(cmd.OutOrStdout(), countByStatus(asked))
			if len(found)+failed > 0 {
				return &exit.CheckFailed{What: fmt.Sprintf("%s, %s whose checks failed", count(len(found), "finding"), count(failed, "rule"))}
			}
			return nil
		},
	}
	c.Flags().StringVar(&dir, "root", ".", "root of the source tree")
	c.Flags().StringVar(&out, "out", "", "write how each rule's checks ended, as JSON, to this file")
	c.Flags().BoolVar(&run, "run", false, "run the tests the records name, and break a copy of the tree to see them fail")
	return c
}

func writeRun(file string, run *invariants.Run) error {
	data, err := canon.Indent(run)
	if err != nil {
		return err
	}
	return swap.File(file, data)
}

// findings is what reading the tree in dir finds against records; where not all of them
// were asked for, what names one that was.
func findings(dir string, records, asked []invariants.Record) ([]invariants.Finding, error) {
	if _, err := os.ReadDir(dir); err != nil {
		return nil, &diag.Refusal{Field: "--root", Value: dir, Problem: "is not a directory that can be read", Accept: "the root of the source tree"}
	}
	m, err := invariants.Load(os.DirFS(dir))
	if err != nil {
		return nil, err
	}
	const policy = "invariants/layers.txt"
	layers, err := invariants.ParseLayers(policy, string(m.Files[policy]))
	if err != nil {
		return nil, err
	}
	found := slices.Concat(invariants.Verify(records, m), invariants.Ratchet(records, string(m.Files["invariants/ratchet.txt"])), invariants.Unproven(records, m), layers.Check(m))
	if len(asked) == len(records) {
		return found, nil
	}
	return slices.DeleteFunc(found, func(f invariants.Finding) bool {
		named := invariants.ID.FindAllString(f.Where+" "+f.Problem, -1)
		return !slices.ContainsFunc(asked, func(r invariants.Record) bool { return slices.Contains(named, r.ID) })
	}), nil
}
