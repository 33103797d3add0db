package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/scorer/snapshot"
	"github.com/spf13/cobra"
)

func unscoredCmd() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "unscored --snapshots DIR [TAG=COMMIT...]",
		Short: "list the releases without scores, in the order they were tagged",
		Long: "Lists those of the given tags that are releases without scores, one a line, in the order given: that of\n" +
			"`git tag --sort=creatordate`. Each stands with the full id of the commit it names. A pre-release is no release.\n" +
			"A published release whose tag is gone, or names another commit than the one that was scored, is refused.",
		RunE: func(c *cobra.Command, args []string) error {
			tags := make([]snapshot.Tag, len(args))
			for i, text := range args {
				name, commit, ok := strings.Cut(text, "=")
				if !ok || len(commit) != 40 || strings.Trim(commit, "0123456789abcdef") != "" {
					return &diag.Refusal{Field: "TAG", Value: text, Problem: "names no commit", Accept: "a tag and the 40 hex digits of its commit, e.g. v1.2.0=COMMIT"}
				}
				tags[i] = snapshot.Tag{Name: name, Commit: commit}
			}
			published, err := openSnapshots(dir)
			if err != nil {
				return err
			}
			pending, err := published.Pending(tags)
			for _, tag := range pending {
				fmt.Fprintln(c.OutOrStdout(), tag)
			}
			return err
		},
	}
	c.Flags().StringVar(&dir, "snapshots", "", "directory of published releases; an empty one before the first")
	if err := c.MarkFlagRequired("snapshots"); err != nil {
		panic(err)
	}
	return c
}

// unpublished refuses a directory that holds no release and something else, names that begin with
// a dot apart: every release would be scored again.
func unpublished(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && e.Name() != "index.json" {
			return &diag.Refusal{Field: "--snapshots", Value: e.Name(), Problem: "is no published release", Accept: "a directory of published releases, or an empty one", Rule: "COV-9"}
		}
	}
	return err
}

// openSnapshots opens the published releases in a directory that must be there.
func openSnapshots(dir string) (*snapshot.Store, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, &diag.Refusal{Field: "--snapshots", Value: dir, Problem: "is no directory", Accept: "a directory of published releases, or an empty one"}
	}
	s, err := snapshot.Open(os.DirFS(dir))
	if err == nil && len(s.Snapshots) == 0 {
		err = unpublished(dir)
	}
	return s, diag.Below(dir, err)
}
