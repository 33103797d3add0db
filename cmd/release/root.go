package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/inference-sim/accuracy-dashboard/engines/builtin"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/release"
	"github.com/spf13/cobra"
)

func root() *cobra.Command {
	c := &cobra.Command{
		Use:   "release",
		Short: "pack a release, and write its notes",
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
		Args:  cobra.NoArgs,
	}
	c.AddCommand(packCmd(), notesCmd())
	return c
}

func packCmd() *cobra.Command {
	o := release.Options{Source: "."}
	c := &cobra.Command{
		Use:   "pack --release vX.Y.Z",
		Short: "build the programs with stack, bill of materials and signed checksums, offline",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			kinds, err := builtin.Kinds()
			if err != nil {
				return err
			}
			return release.Pack(c.Context(), o, kinds)
		},
	}
	f := c.Flags()
	f.StringVar(&o.Out, "out", "dist", "directory to make")
	f.StringVar(&o.Release, "release", "", "tag of the release")
	f.StringVar(&o.Key, "key", "", "PEM private key (P-256); without one the signature proves integrity only")
	f.StringSliceVar(&o.Commands, "command", []string{"./cmd/blis", "./cmd/blis-score"}, "main packages to build")
	f.StringSliceVar(&o.Targets, "target", []string{runtime.GOOS + "/" + runtime.GOARCH}, "platforms, GOOS/GOARCH")
	return c
}

func notesCmd() *cobra.Command {
	var from, to, evaluations string
	c := &cobra.Command{
		Use:   "notes --from DIR",
		Short: "what changed since another source tree: upstreams, prices, coefficients, traces, documents, rules",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var old fs.FS
			if from != "" {
				if err := sourceTree("--from", from); err != nil {
					return err
				}
				old = os.DirFS(from)
			}
			if err := sourceTree("--to", to); err != nil {
				return err
			}
			text, err := release.Notes(old, os.DirFS(to))
			if err != nil {
				return err
			}
			if evaluations != "" {
				data, err := os.ReadFile(evaluations)
				if err != nil {
					return &diag.Refusal{Field: "--evaluations", Value: evaluations, Problem: "cannot be read: " + err.Error(), Accept: "the file of every evaluation so far"}
				}
				judged, err := release.Evaluations(evaluations, data)
				if err != nil {
					return err
				}
				text += judged
			}
			_, err = fmt.Fprint(c.OutOrStdout(), text)
			return err
		},
	}
	c.Flags().StringVar(&from, "from", "", "source tree of the release before; none is the first release")
	c.Flags().StringVar(&evaluations, "evaluations", "", "file of every evaluation of the gate, which the notes count")
	c.Flags().StringVar(&to, "to", ".", "source tree of this release")
	return c
}

// sourceTree refuses a directory that holds no source of this module.
func sourceTree(flag, dir string) error {
	if _, err := os.Stat(filepath.Join(dir, release.PriceFile)); err != nil {
		return &diag.Refusal{Field: flag, Value: dir, Problem: "is no source tree: it lacks " + release.PriceFile, Accept: "the root of a checkout"}
	}
	return nil
}
