package need

import (
	"os"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

// recorder is a test that only remembers how it ended.
type recorder struct {
	testing.TB
	end string
}

func (*recorder) Helper()                 {}
func (r *recorder) Fatalf(string, ...any) { r.end = "failed" }
func (r *recorder) Skipf(string, ...any)  { r.end += "skipped" }

func TestMissingToolFailsARequiredRun(t *testing.T) {
	keep.Rule(t, "X16")
	for _, c := range []struct{ required, tool, want string }{
		{"1", "no-such-program", "failed"}, {"", "no-such-program", "skipped"}, {"1", "go", ""},
	} {
		t.Setenv(Required, c.required)
		if c.required == "" {
			os.Unsetenv(Required)
		}
		r := &recorder{TB: t}
		Tool(r, c.tool, "install it")
		if r.end != c.want && r.end != c.want+"skipped" { // a recorder goes on after Fatalf
			t.Errorf("%s, required %q: got %q, want %q", c.tool, c.required, r.end, c.want)
		}
	}
}

func TestMissingFileFailsARequiredRun(t *testing.T) {
	t.Setenv(Required, "1")
	r := &recorder{TB: t}
	File(r, "no/such/file", "make it")
	if r.end == "" || r.end == "skipped" {
		t.Errorf("got %q, want failed", r.end)
	}
	if r.end = ""; File(r, "need.go", "") == "" || r.end != "" {
		t.Errorf("a file that is there: got %q", r.end)
	}
}
