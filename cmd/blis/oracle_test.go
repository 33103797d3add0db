package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
)

func TestOracleCheckRefuses(t *testing.T) {
	const trace = " ../../engines/vllm/testdata/oracle/refuse_small_pool.json"
	for _, c := range []struct {
		args string
		code int
		want string // in standard output, or in standard error when the code is neither 0 nor 3
	}{
		{"check" + trace, exit.Done, "1 trace, "},
		{"check no.json" + trace, exit.Refused, "oracle: 1 recording refused, the first: no.json: cannot be read"},
		{"check --corrupt --value 0" + trace, exit.Failed, ", 1 difference, changed "},
		{"check --corrupt --value -1" + trace, exit.Usage, "--value: -1: values are counted from 0"},
		{"check --corrupt --value 1000000" + trace, exit.Refused, "refuse_small_pool.json: value: 1000000: counts no value: "},
		{"check --value 0" + trace, exit.Usage, "give --corrupt too"},
		{"check --engine vlm" + trace, exit.Usage, "did you mean vllm?"},
	} {
		var out, errs bytes.Buffer
		code := exit.Run(context.Background(), oracleCmd(), strings.Fields(c.args), &out, &errs)
		text := out.String()
		if code == exit.Usage || code == exit.Refused {
			text = errs.String()
		}
		if code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("oracle %s: got exit %d, %q; want exit %d with %q", c.args, code, text, c.code, c.want)
		}
	}
}
