package scorer

import (
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

func TestParseBuild(t *testing.T) {
	keep.Rule(t, "COV-6")
	for _, c := range []struct {
		image, version string
		want           EngineBuild
	}{
		{"vllm/vllm-openai:v0.19.0-cu130", "0.19.0", EngineBuild{ReleaseBuild, "0.19.0"}},
		{"lmsysorg/sglang:v0.5.8.post1-cu130-amd64", "", EngineBuild{ReleaseBuild, "0.5.8.post1"}},
		{"lmsysorg/sglang:v0.5.5.post2", "", EngineBuild{ReleaseBuild, "0.5.5.post2"}},
		{"vllm/vllm-openai:nightly-5b8c30d62b754b575e043ce2fc0dcbf8a64f6306", "nightly-5b8c", EngineBuild{NightlyBuild, "5b8c30d62b754b575e043ce2fc0dcbf8a64f6306"}},
		{"lmsysorg/sglang:nightly-dev-cu13-20260317-1eea7448", "nightly-dev", EngineBuild{NightlyBuild, "1eea7448"}},
		{"lmsysorg/sglang:glm5-hopper", "glm5-hopper", EngineBuild{CustomBuild, "glm5-hopper"}},
		{"", "0.10.2", EngineBuild{ReleaseBuild, "0.10.2"}},
	} {
		if got, err := ParseBuild(c.image, c.version); err != nil || got != c.want {
			t.Errorf("%s %s: got %v, %v, want %v", c.image, c.version, got, err, c.want)
		}
	}
	if _, err := ParseBuild("", ""); err == nil {
		t.Error("a build nobody recorded was read; want a refusal")
	}
}
