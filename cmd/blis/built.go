package main

import (
	"runtime/debug"

	"github.com/inference-sim/accuracy-dashboard/scorer/snapshot"
	"github.com/inference-sim/accuracy-dashboard/sim/search"
)

// builtFrom is what the program was built from. info is nil where it has no build information.
func builtFrom(info *debug.BuildInfo) search.Build {
	b := search.Build{Release: "unreleased", Commit: "not stamped"}
	if info == nil {
		return b
	}
	s := snapshot.NewStack(info)
	if snapshot.Release(s.Main.Version) == nil {
		b.Release = s.Main.Version
	}
	if c := s.Settings["vcs.revision"]; c != "" {
		b.Commit = c
	}
	if s.Settings["vcs.modified"] == "true" {
		b.Commit += "+modified"
	}
	return b
}
