package scorer

import (
	"fmt"
	"regexp"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// BuildKind says what a run's engine build is.
type BuildKind string

const (
	ReleaseBuild BuildKind = "release" // a tagged upstream release
	NightlyBuild BuildKind = "nightly" // an image that names a commit
	CustomBuild  BuildKind = "custom"  // a readable version of neither kind
)

// EngineBuild is a run's engine as its image and version say it.
type EngineBuild struct {
	Kind    BuildKind
	Version string // release version, or the nightly's commit
}

var (
	releaseTag    = regexp.MustCompile(`[:v](\d+\.\d+\.\d+(?:\.post\d+)?)(?:-(?:cu\d+|blackwell|b\d+|amd64|arm64|runtime)[\w.-]*)?$`)
	nightlyTag    = regexp.MustCompile(`(?:nightly|dev)[\w.-]*-([0-9a-f]{7,40})$`)
	versionNumber = regexp.MustCompile(`^v?(\d+\.\d+\.\d+(?:\.post\d+)?)$`)
)

// ParseBuild reads a run's engine build from its image and recorded version; the
// image decides where it names a build, because it is what ran.
func ParseBuild(image, version string) (EngineBuild, error) {
	if m := nightlyTag.FindStringSubmatch(image); m != nil {
		return EngineBuild{NightlyBuild, m[1]}, nil
	}
	if m := releaseTag.FindStringSubmatch(image); m != nil {
		return EngineBuild{ReleaseBuild, m[1]}, nil
	}
	if m := versionNumber.FindStringSubmatch(version); m != nil {
		return EngineBuild{ReleaseBuild, m[1]}, nil
	}
	if version != "" {
		return EngineBuild{CustomBuild, version}, nil
	}
	return EngineBuild{}, &diag.Refusal{Field: "image", Value: fmt.Sprintf("%q", image), Problem: "names no engine build, and no version is recorded",
		Accept: "an image tag with a version, e.g. v0.19.0, or a nightly's commit"}
}
