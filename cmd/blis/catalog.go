package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/catalog/graph"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/spf13/cobra"
)

// catalogCmd answers questions about the catalog in use.
func catalogCmd() *cobra.Command {
	c := &cobra.Command{Use: "catalog", Short: "published facts: chips, networks, models, sources"}
	src := new(catalogFlags)
	c.PersistentFlags().StringVar(&src.path, "catalog", "", "directory to use in place of the embedded catalog")
	c.PersistentFlags().StringArrayVar(&src.overlays, "catalog-overlay", nil, "directory whose entries are added or replace others; repeatable")
	c.AddCommand(catalogList(src), catalogShow(src), catalogResolve(src), catalogHash(src), catalogDerive(src))
	return c
}

// catalogFlags say which catalog a command uses.
type catalogFlags struct {
	path     string
	overlays []string
}

func (f *catalogFlags) base() (fs.FS, error) {
	if f.path == "" {
		return catalog.EmbeddedFS(), nil
	}
	return world.Directory(f.path)
}

func (f *catalogFlags) open() (*catalog.Catalog, error) { return world.Catalog(f.path, f.overlays) }

func catalogList(src *catalogFlags) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "every entry: its kind, its name, what it is", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := src.open()
			if err != nil {
				return err
			}
			return printList(cmd, c)
		},
	}
}

func printList(cmd *cobra.Command, c *catalog.Catalog) error {
	row := func(kind, name, title string) { fmt.Fprintf(cmd.OutOrStdout(), "%-8s %-32s %s\n", kind, name, title) }
	for _, name := range c.Chips() {
		e, err := c.Chip(name)
		if err != nil {
			return err
		}
		row("chip", name, e.Title)
	}
	for _, name := range c.Networks() {
		e, err := c.Network(name)
		if err != nil {
			return err
		}
		row("network", name, e.Title)
	}
	for _, name := range c.Models() {
		e, err := c.Model(name)
		if err != nil {
			return err
		}
		total, active := e.Graph.Params()
		row("model", name, fmt.Sprintf("%s: %.4gB parameters, %.3gB a token", e.Title, float64(total)/1e9, float64(active)/1e9))
	}
	for _, name := range c.Sources() {
		e, err := c.Source(name)
		if err != nil {
			return err
		}
		row("source", name, e.Title)
	}
	return nil
}

func catalogShow(src *catalogFlags) *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "the files of one entry, as they are read", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := src.open()
			if err != nil {
				return err
			}
			files := c.Files(args[0])
			if len(files) == 0 {
				all := slices.Concat(c.Chips(), c.Networks(), c.Models(), c.Sources())
				return &diag.Refusal{Field: "name", Value: args[0], Problem: "is not in the catalog", Accept: diag.OneOf(args[0], all)}
			}
			for _, f := range files {
				fmt.Fprintf(cmd.OutOrStdout(), "# %s\n%s", f.Path, f.Data)
			}
			return nil
		},
	}
}

func catalogResolve(src *catalogFlags) *cobra.Command {
	return &cobra.Command{
		Use: "resolve SOURCE NAME", Short: "the entry a data source calls NAME, as JSON",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("resolve takes two arguments, SOURCE (such as inferencex) and NAME; %d given", len(args))
			}
			return nil
		},
		Long:    "Prints the catalog entry that SOURCE (such as inferencex) calls NAME. A name nobody knows prints {\"found\": false} and exits 0: that is an answer, not an error.",
		Example: "  blis catalog resolve inferencex zhipuai/GLM-5",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := src.open()
			if err != nil {
				return err
			}
			ref, found := c.Resolve(args[0], args[1])
			return json.NewEncoder(cmd.OutOrStdout()).Encode(struct {
				Found bool `json:"found"`
				catalog.Ref
			}{found, ref})
		},
	}
}

func catalogHash(src *catalogFlags) *cobra.Command {
	return &cobra.Command{
		Use: "hash", Short: "the content hashes of the catalog in use, as JSON", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := src.open()
			if err != nil {
				return err
			}
			return json.NewEncoder(cmd.OutOrStdout()).Encode(c.Hashes())
		},
	}
}

func catalogDerive(src *catalogFlags) *cobra.Command {
	var check bool
	c := &cobra.Command{
		Use: "derive DIR", Short: "derive every graph.yaml from the vendor configurations in DIR", Args: cobra.ExactArgs(1),
		Long: "Reads owner--name_config.json and owner--name_hf_quant_config.json from DIR for the checkpoints each model.yaml names. With --check nothing is written and a graph.yaml that differs by one byte is an error (exit 3); without it the graphs are written under --catalog.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if !check && src.path == "" {
				return exit.UsageError(fmt.Errorf("derive writes under --catalog DIR; give it, or --check"))
			}
			base, err := src.base()
			if err != nil {
				return err
			}
			derived, err := graph.DeriveAll(base, os.DirFS(args[0]))
			if err != nil {
				return err
			}
			if check {
				return checkDerived(cmd, derived)
			}
			return writeDerived(cmd, src.path, derived)
		},
	}
	c.Flags().BoolVar(&check, "check", false, "compare byte for byte, write nothing")
	return c
}

func checkDerived(cmd *cobra.Command, derived []graph.Derived) error {
	differing := 0
	for _, d := range derived {
		line, have, want := d.Differs()
		if line == 0 {
			continue
		}
		differing++
		fmt.Fprintf(cmd.OutOrStdout(), "%s:%d\n  committed %s\n  derived   %s\n", d.Path, line, have, want)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%d graphs derived, %d differ\n", len(derived), differing)
	if differing > 0 {
		return &exit.CheckFailed{What: fmt.Sprintf("%d of %d graphs are not what the configurations give", differing, len(derived))}
	}
	return nil
}

func writeDerived(cmd *cobra.Command, dir string, derived []graph.Derived) error {
	for _, d := range derived {
		if line, _, _ := d.Differs(); line == 0 {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(d.Path)), d.Want, 0o644); err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), d.Path)
	}
	return nil
}
