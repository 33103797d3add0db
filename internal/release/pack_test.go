package release

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A release that cannot be built, or signed, leaves nothing.
func TestAFailedPackLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		spoil func(*Options)
		want  string
	}{
		{func(o *Options) { o.Commands = []string{"./internal/release/testdata/none"} }, "none for " + here},
		{func(o *Options) { o.Key = filepath.Join(dir, "none") }, "--key"},
	} {
		o := Options{Source: "../..", Out: filepath.Join(dir, "dist"), Release: "v0.0.1", Commands: []string{"./internal/release/testdata/program"}, Targets: []string{here}}
		c.spoil(&o)
		if err := Pack(t.Context(), o, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v, %v, want nothing", c.want, left, err)
		}
	}
}
