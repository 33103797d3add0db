package oracle

import (
	"fmt"
	"strings"
	"testing"
)

// trace is a recording of one request under the given configuration.
func trace(config, request string) string {
	return fmt.Sprintf(`{"provenance":{"manifest_version":%q},"input":{"max_iterations":9,"config":{"max_total_num_tokens":64,"max_running_requests":2,`+
		`"context_len":64,"chunked_prefill_size":-1,"max_prefill_tokens":64,"tree":"radix","schedule_conservativeness":1.0%s},"requests":[{"rid":"r"%s}]}}`, Format, config, request)
}

func TestScenariosNoRecorderPlayedAreRefused(t *testing.T) {
	const config, request = `,"page_size":1,"schedule_policy":"fcfs"`, `,"prompt":[[1,0,8]],"max_new_tokens":2`
	for _, c := range []struct{ config, request, want string }{
		{config, request, ""},
		{`,"page_size":0,"schedule_policy":"fcfs"`, request, "input.config.page_size: 0: is out of range"},
		{`,"page_size":1,"schedule_policy":"zzz"`, request, "input.config.schedule_policy: zzz: is not known"},
		{config, `,"prompt":[[1,0,16777217]],"max_new_tokens":2`, "input.requests[0].prompt[0]: 16777217: is out of range"},
		{config, `,"prompt":[[1,0,0]],"max_new_tokens":2`, "input.requests.r.prompt: 0: is out of range"},
		{config, `,"prompt":[[1,0,8]],"max_new_tokens":-1`, "input.requests[0].max_new_tokens: -1: is out of range"},
		{config + `,"foo":1`, request, "foo: unknown key"},
	} {
		_, err := Check("t", strings.NewReader(trace(c.config, c.request)))
		if got := fmt.Sprint(err); (c.want == "") != (err == nil) || !strings.Contains(got, c.want) {
			t.Errorf("%s %s: got %v, want %q", c.config, c.request, err, c.want)
		}
	}
}
