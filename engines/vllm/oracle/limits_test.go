package oracle

import (
	"fmt"
	"strings"
	"testing"
)

func TestScenariosNoRecorderPlayedAreRefused(t *testing.T) {
	const request = `"prompt":[[1,0,8]],"max_tokens":2`
	for _, c := range []struct{ config, request, want string }{
		{``, request, ""},
		{`"block_size":0`, request, "scenario.config.block_size: 0: is out of range"},
		{`"num_gpu_blocks":16777217`, request, "scenario.config.num_gpu_blocks: 16777217: is out of range"},
		{`"layers":[["chunked_local",1,0]]`, request, "scenario.config.layers[0].window: 0: is out of range"},
		{`"layers":[["chunked_local",1,1]]`, request, ""},
		{`"watermark":1.5`, request, "scenario.config.watermark: 1.5: is out of range"},
		{`"pipeline_parallel_size":1025`, request, "scenario.config.pipeline_parallel_size: 1025: is out of range"},
		{`"speculative":{"method":"zzz","num_speculative_tokens":1,"accept":[1]}`, request, "scenario.config.speculative.method: zzz: is not known"},
		{`"speculative":{"method":"ngram","num_speculative_tokens":1,"accept":[]}`, request, "scenario.config.speculative.accept: is empty or missing"},
		{`"speculative":{"method":"ngram","num_speculative_tokens":1,"accept":[0]}`, request, ""},
		{`"foo":1`, request, "t: scenario.config.foo: unknown key"},
		{``, `"prompt":[],"max_tokens":2`, "scenario.requests[0].prompt: 0: is out of range"},
		{``, `"prompt":[[1,0,8]],"max_tokens":0`, "scenario.requests[0].max_tokens: 0: is out of range"},
	} {
		text := fmt.Sprintf(`{"format":%q,"scenario":{"max_steps":9,"config":{%s},"requests":[{"id":"r",%s}]}}`, Format, c.config, c.request)
		_, err := Check("t", strings.NewReader(text))
		if got := fmt.Sprint(err); (c.want == "") != (err == nil) || !strings.Contains(got, c.want) {
			t.Errorf("{%s} {%s}: got %v, want %q", c.config, c.request, err, c.want)
		}
	}
	_, err := Check("t", strings.NewReader(`{"format":"`+SecondFormat+`","scenario":{"kind":"direct","target":"lb"}}`))
	if want := "t: scenario.kind: direct: drives lb alone, not an engine"; fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
