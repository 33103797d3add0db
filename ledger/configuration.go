package ledger

import (
	"maps"
	"reflect"
	"slices"
)

// Configuration is what a run recorded about itself: how its engine was
// launched and how its client drove it. A null is a value the run did not
// record; nothing is filled in here.
type Configuration struct {
	// Match says how many launches of the benchmark's history fit the run:
	// "unique", "ambiguous" (server_args and env hold what all have in common)
	// or "none" (every other field is null).
	Match       string            `json:"match"`
	Checkpoint  *string           `json:"checkpoint"` // the repository really served
	Image       *string           `json:"image"`
	Speculation string            `json:"speculation"` // "none", "mtp" or "unknown"
	ServerArgs  map[string]any    `json:"server_args"` // passed flags only; numbers are json.Number
	Env         map[string]string `json:"env"`
	Logged      *Logged           `json:"logged,omitempty"` // null: the run kept no engine log
	Client      *Client           `json:"client"`
	Router      *Router           `json:"router,omitempty"` // null: the run was not measured behind one
	Origin      *Origin           `json:"origin"`
	Notes       []string          `json:"notes"`
}

// Logged is what the engine itself wrote of its configuration when it started, in
// the names and values of its arguments.
type Logged struct {
	Passed    map[string]any    `json:"passed,omitempty"`
	Resolved  map[string]any    `json:"resolved,omitempty"`
	Libraries map[string]string `json:"libraries,omitempty"` // name to version
}

// Client is the experimental frame: the load generator and its arguments.
type Client struct {
	Repo              string  `json:"repo"`
	Path              string  `json:"path"`
	Commit            *string `json:"commit"` // null: cloned unpinned
	InvokedFrom       string  `json:"invoked_from"`
	Backend           string  `json:"backend"`
	Dataset           string  `json:"dataset"`
	InputLen          int     `json:"input_len"`          // nominal prompt tokens
	OutputLen         int     `json:"output_len"`         // nominal output tokens
	RandomRangeRatio  float64 `json:"random_range_ratio"` // lengths drawn from [ratio*nominal, nominal]
	NumPrompts        *int    `json:"num_prompts"`
	MaxConcurrency    *int    `json:"max_concurrency"`
	NumWarmups        *int    `json:"num_warmups"` // null: the client has no such option
	RequestRate       string  `json:"request_rate"`
	IgnoreEOS         bool    `json:"ignore_eos"`
	UseChatTemplate   bool    `json:"use_chat_template"`
	TrustRemoteCode   bool    `json:"trust_remote_code"`
	PercentileMetrics string  `json:"percentile_metrics"`
}

// Router is what stood between client and engines.
type Router struct {
	Name     string `json:"name"` // "llm-d", or a router that is not hosted here
	Mode     string `json:"mode"`
	Affinity string `json:"session_affinity,omitempty"`
}

// Origin says where in the benchmark's repository the launch was read.
type Origin struct {
	Config     string `json:"config"` // path@commit of the sweep entry
	Entry      string `json:"entry"`
	Runner     string `json:"runner"`
	Script     string `json:"script"`      // path@commit
	ScriptBlob string `json:"script_blob"` // git blob id
}

// differing names the fields in which a and b were launched differently. Where
// a launch was read is provenance, not a difference.
func (c *Configuration) differing(b *Configuration) []string {
	var out []string
	add := func(field string, same bool) {
		if !same {
			out = append(out, field)
		}
	}
	add("match", c.Match == b.Match)
	add("checkpoint", equal(c.Checkpoint, b.Checkpoint))
	add("image", equal(c.Image, b.Image))
	add("speculation", c.Speculation == b.Speculation)
	for _, k := range union(c.ServerArgs, b.ServerArgs) {
		add("server_args."+k, reflect.DeepEqual(c.ServerArgs[k], b.ServerArgs[k]))
	}
	for _, k := range union(c.Env, b.Env) {
		x, inC := c.Env[k]
		y, inB := b.Env[k]
		add("env."+k, x == y && inC == inB)
	}
	add("logged", reflect.DeepEqual(c.Logged, b.Logged))
	add("router", equal(c.Router, b.Router))
	add("client", reflect.DeepEqual(c.Client.frame(), b.Client.frame()))
	return out
}

// frame is c without where it was read: two commits of one client are one frame.
func (c *Client) frame() *Client {
	if c == nil {
		return nil
	}
	f := *c
	f.Path, f.Commit, f.InvokedFrom = "", nil, ""
	return &f
}

func equal[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func union[V any](a, b map[string]V) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}
