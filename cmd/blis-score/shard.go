package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/inference-sim/accuracy-dashboard/harness"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/site"
	"github.com/spf13/cobra"
)

// part scores one shard and leaves it for merge.
func part(c *cobra.Command, o options) error {
	s, err := harness.ParseShard(o.shard)
	if err != nil {
		return err
	}
	if err := harness.PartReplaceable(o.out); err != nil {
		return err
	}
	j, err := begin(o)
	if err != nil {
		return err
	}
	selection, err := o.selection()
	if err != nil {
		return err
	}
	trials, err := j.simulate(c.Context(), s.Pick(j.units), c.ErrOrStderr())
	if err == nil {
		err = j.world.WritePart(o.out, s, j.units, trials, selection)
	}
	if err := o.settle(c.ErrOrStderr(), err); err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "shard %d/%d: %d of %d units in %s\n", s.Index, s.Of, len(trials), len(j.units), o.out)
	return nil
}

// selection is what chose the units, so that merge chooses them again.
func (o *options) selection() (map[string]string, error) {
	units, err := json.Marshal(o.units)
	return map[string]string{"role": o.role, "lane": o.lane, "units": string(units), "release": o.release}, err
}

func (o *options) selectAs(file string, selection map[string]string) error {
	o.role, o.lane, o.release = selection["role"], selection["lane"], selection["release"]
	if err := json.Unmarshal([]byte(selection["units"]), &o.units); err != nil {
		return &diag.Refusal{File: file, Field: "selection.units", Value: selection["units"], Problem: "is no list of units", Accept: "a JSON list of ids, as --shard wrote it"}
	}
	_, err := rolesOf(o.role)
	return diag.In(file, err)
}

func mergeCmd() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "merge DIR...",
		Short: "make the site from the shards that `blis-score --shard` left",
		Long: "Makes the site from every shard of one run: the same bytes as the run unsharded gives. A shard that is lost, given twice, of\n" +
			"another run or of another build is refused by count, and nothing is written.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, dirs []string) error {
			if err := o.checkOutput(); err != nil {
				return err
			}
			if err := site.Replaceable(o.out); err != nil {
				return err
			}
			first, err := harness.ReadPart(dirs[0])
			if err != nil {
				return err
			}
			if err := o.selectAs(filepath.Join(dirs[0], "shard.json"), first.Selection); err != nil {
				return err
			}
			j, err := begin(o)
			if err != nil {
				return err
			}
			trials, err := j.world.Merge(dirs, j.units)
			if err != nil {
				return err
			}
			return j.finish(c, trials)
		},
	}
	o.outputFlags(c)
	return c
}
