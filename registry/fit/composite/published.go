package composite

import (
	_ "embed"
	"sync"

	"github.com/inference-sim/accuracy-dashboard/internal/strict"
)

//go:embed vllm.json
var published []byte

//go:embed sglang.json
var publishedSGLang []byte

// Published is the record of the vLLM fit that wrote this build's registry;
// PublishedSGLang is SGLang's.
var (
	Published       = sync.OnceValues(func() (*Report, error) { return read("vllm.json", published) })
	PublishedSGLang = sync.OnceValues(func() (*Report, error) { return read("sglang.json", publishedSGLang) })
)

func read(name string, data []byte) (*Report, error) {
	r := new(Report)
	return r, strict.JSON("registry/fit/composite/"+name, data, r)
}
