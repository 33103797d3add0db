package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/site/wasm"
)

func TestAModuleOfAnotherRevisionIsNotPublished(t *testing.T) {
	for name, c := range map[string]struct{ built, here, want string }{
		"go run stamps nothing": {"", "abc", ""},
		"the same revision":     {"abc", "abc", ""},
		"another revision":      {"abc", "def", "built from revision abc, and the checkout here is at def"},
		"no checkout":           {"abc", "unknown", "at unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			err := sameSource(c.built, c.here)
			if c.want == "" {
				if err != nil {
					t.Errorf("got %v, want none", err)
				}
				return
			}
			if _, ok := errors.AsType[wasm.Unavailable](err); !ok || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an Unavailable with %q", err, c.want)
			}
		})
	}
}
