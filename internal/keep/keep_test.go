package keep

import (
	"fmt"
	"strings"
	"testing"
)

// recorder is a test that ends as it is told and remembers what it logged.
type recorder struct {
	testing.TB
	failed  bool
	cleanup func()
	log     []string
}

func (*recorder) Helper()            {}
func (r *recorder) Failed() bool     { return r.failed }
func (r *recorder) Cleanup(f func()) { r.cleanup = f }
func (r *recorder) Logf(format string, args ...any) {
	r.log = append(r.log, fmt.Sprintf(format, args...))
}

func TestAFailureNamesItsRules(t *testing.T) {
	Rule(t, "X18")
	for _, failed := range []bool{true, false} {
		r := &recorder{TB: t, failed: failed}
		Rule(r, "X6", "X7")
		r.cleanup()
		got := strings.Join(r.log, "\n")
		if strings.Contains(got, "breaks X6") != failed || strings.Contains(got, "breaks X7") != failed {
			t.Errorf("failed %v: got %q", failed, got)
		}
	}
}
