package main

import (
	"os"
	"strings"
	"testing"
)

func TestRegistryLanesRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--methods guess", "roofline, assumed"}, {"--engine vlm", "vlm"},
	} {
		if code, _, errs := registryRun(append([]string{"lanes"}, strings.Fields(c.args)...)...); code != 1 || !strings.Contains(errs, c.want) {
			t.Errorf("%s: got exit %d, %q, want 1 and %q", c.args, code, errs, c.want)
		}
	}
}

// By roofline alone every lane of SGLang's fit runs has its row.
func TestRegistryLanesByRoofline(t *testing.T) {
	if os.Getenv("BLIS_NIGHTLY") == "" {
		t.Skip("a minute; runs nightly")
	}
	code, out, errs := registryRun("lanes", "--engine", "sglang", "--methods", "roofline,assumed")
	if code != 0 || strings.Count(out, "tpot_mean") < 12 || !strings.Contains(out, "sglang zhipuai/GLM-5 h200_sxm fp8") {
		t.Errorf("got exit %d, %s%s", code, out, errs)
	}
}
