package main

import (
	"crypto/ecdsa"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/exit"
	"github.com/inference-sim/accuracy-dashboard/scorer/snapshot"
	"github.com/inference-sim/accuracy-dashboard/site/page"
	"github.com/inference-sim/accuracy-dashboard/site/seal"
	"github.com/spf13/cobra"
)

func verifyCmd() *cobra.Command {
	var keyFile, published string
	c := &cobra.Command{
		Use:   "verify DIR",
		Short: "check every file of a site against its signed manifest",
		Long: "Checks the signature over the manifest and the manifest against the files, both ways. Exits with 3 and names the first\n" +
			"file that was changed, added or removed, and with 1 when DIR is no sealed site. Without --key the site's own key is used, which proves integrity only.\n" +
			"With --snapshots, also that the site holds every release published before, in its place and unchanged: exit 3 when it does not.",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var key *ecdsa.PublicKey
			if keyFile != "" {
				var err error
				if key, err = seal.ReadPublicKey(keyFile); err != nil {
					return &diag.Refusal{Field: "--key", Problem: err.Error(), Accept: "a file with a PEM public key on curve P-256"}
				}
			}
			about, err := seal.Verify(args[0], key)
			if d, ok := errors.AsType[*seal.DifferenceError](err); ok {
				return &exit.CheckFailed{What: d.Error()}
			}
			if n, ok := errors.AsType[*seal.NotSealedError](err); ok {
				return &diag.Refusal{Field: "DIR", Value: n.Dir, Problem: n.What, Accept: "the directory of a site that blis-score made without --records-only"}
			}
			if err != nil {
				return err
			}
			if published != "" {
				if err := succeeds(args[0], published); err != nil {
					return err
				}
			}
			proof := "signed by the given key"
			if key == nil {
				proof = "integrity only: checked with the key beside it"
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: %d files as listed, release %s, source revision %s; %s\n", args[0], about.Files, about.Release, about.Source, proof)
			return nil
		},
	}
	c.Flags().StringVar(&published, "snapshots", "", "directory of the releases published before, which the site must keep")
	c.Flags().StringVar(&keyFile, "key", "", "PEM public key (P-256) the site must be signed by")
	return c
}

// succeeds holds the site in dir to the releases published before (COV-8).
func succeeds(dir, published string) error {
	old, err := openSnapshots(published)
	if err != nil {
		return err
	}
	next, err := snapshot.Open(os.DirFS(filepath.Join(dir, page.SnapshotsDir)))
	if err != nil {
		return diag.Below(filepath.Join(dir, page.SnapshotsDir), err)
	}
	if err := next.Succeeds(old); err != nil {
		return &exit.CheckFailed{What: err.Error()}
	}
	return nil
}
