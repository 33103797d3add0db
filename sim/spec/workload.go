package spec

// Workload is what is sent. Exactly one kind is stated.
type Workload struct {
	InferenceX *InferenceX `yaml:"inferencex,omitempty" json:"inferencex,omitempty"`
	Clients    []Client    `yaml:"clients,omitempty" json:"clients,omitempty"`
	Trace      *Trace      `yaml:"trace,omitempty" json:"trace,omitempty"`
	// Acceptance is read by an engine that drafts, which is refused without it; of any
	// other the Result says that it has no effect.
	Acceptance *Acceptance `yaml:"acceptance,omitempty" json:"acceptance,omitempty"`
}

// Acceptance is how often the workload's text agrees with a drafter (D8). Exactly one of
// its keys is stated.
type Acceptance struct {
	// Profile names the workload of measured profiles, as coding/thinking_on; the
	// drafter's own is taken, or the closest one borrowed.
	Profile string `yaml:"profile,omitempty" json:"profile,omitempty"`
	// PerPosition is the chance that draft 1, 2, ... is accepted given all before it.
	PerPosition []float64 `yaml:"per_position,omitempty,flow" json:"per_position,omitempty" jsonschema_description:"the chance of each draft, given that all before it were accepted; of shares of all steps, as vLLM logs per position, divide each by the one before it"`
}

// FromShares is how PerPosition follows from what an engine logs.
const FromShares = "of shares of all steps, as vLLM logs per position, divide each by the one before it"

// The releases of the InferenceX benchmark client whose draws are reproduced.
const (
	// ClientInferenceX is SemiAnalysisAI/InferenceX@843c6254, utils/bench_serving.
	ClientInferenceX = "inferencex-843c6254"
	// ClientBenchServing is kimbochen/bench_serving@406abc35, cloned by the 2025 runs.
	ClientBenchServing = "bench_serving-406abc35"
)

// ClientReleases lists the reproduced releases.
func ClientReleases() []string { return []string{ClientInferenceX, ClientBenchServing} }

// InferenceX is the InferenceX client's random dataset: a closed loop of
// Concurrency over Prompts requests drawn from a seeded MT19937.
type InferenceX struct {
	Release     string  `yaml:"release" json:"release"`
	ISL         int     `yaml:"isl" json:"isl"` // nominal prompt tokens
	OSL         int     `yaml:"osl" json:"osl"` // nominal output tokens
	RangeRatio  float64 `yaml:"range_ratio" json:"range_ratio"`
	Prompts     int     `yaml:"num_prompts" json:"num_prompts"`
	Concurrency int     `yaml:"concurrency" json:"concurrency"`
	// Warmups is the number of copies of request 0 sent and completed before the
	// clock starts. Absent is the release's own rule: 2 x concurrency, or 1.
	Warmups *int   `yaml:"warmups,omitempty" json:"warmups"`
	Seed    uint32 `yaml:"seed,omitempty" json:"seed"`
	// Template is the chat template's cost in tokens; absent when none is used.
	Template *ChatTemplate `yaml:"chat_template,omitempty" json:"chat_template,omitempty"`
	// VocabSize places each prompt in the vocabulary, so that prompts which overlap
	// by chance share blocks; 0 keeps prompts apart.
	VocabSize int `yaml:"vocab_size,omitempty" json:"vocab_size,omitempty"`
}

// Least is the shortest length that the client draws for a nominal one: its draws are
// uniform on Least(nominal)..nominal, without a lower bound of 1.
func (x *InferenceX) Least(nominal int) int { return int(float64(nominal) * x.RangeRatio) }

// ChatTemplate says how many tokens the client takes off the nominal prompt
// length before the draw, and how many the template adds after it.
type ChatTemplate struct {
	Subtract int `yaml:"subtract" json:"subtract" jsonschema:"default=0"`
	Add      int `yaml:"add" json:"add" jsonschema:"default=0"`
}

// Client is one source of requests (§8.1) with its input models (§8.5).
type Client struct {
	Name     string        `yaml:"name" json:"name"`
	Arrivals Arrivals      `yaml:"arrivals" json:"arrivals"`
	Requests int           `yaml:"requests,omitempty" json:"requests,omitempty"` // sent by this client; 0 is no bound of its own
	Prompt   *Distribution `yaml:"prompt,omitempty" json:"prompt,omitempty"`     // new prompt tokens
	Output   *Distribution `yaml:"output,omitempty" json:"output,omitempty"`
	Joint    []LengthPair  `yaml:"joint,omitempty" json:"joint,omitempty"` // instead of prompt and output
	// JointSource says where the pairs come from.
	JointSource string     `yaml:"joint_source,omitempty" json:"joint_source,omitempty"`
	Prefixes    []Prefix   `yaml:"prefixes,omitempty" json:"prefixes,omitempty"`
	Session     *Session   `yaml:"session,omitempty" json:"session,omitempty"`
	Class       string     `yaml:"class,omitempty" json:"class,omitempty"`
	Tenant      string     `yaml:"tenant,omitempty" json:"tenant,omitempty"`
	Priority    int        `yaml:"priority,omitempty" json:"priority,omitempty"`
	Goal        Objectives `yaml:"objectives,omitempty" json:"objectives"`
	Deadline    float64    `yaml:"deadline,omitempty" json:"deadline,omitempty"` // seconds after sending; the client then aborts; 0 is none
	// MaxTokens is what the client states to the server when it is not the drawn
	// output length itself; the request then ends by an end-of-sequence token.
	MaxTokens int `yaml:"max_tokens,omitempty" json:"max_tokens,omitempty"`
}

// Arrivals is when a client sends. Exactly one process is stated.
type Arrivals struct {
	Poisson  *Process    `yaml:"poisson,omitempty" json:"poisson,omitempty"`
	Gamma    *Process    `yaml:"gamma,omitempty" json:"gamma,omitempty"`
	Weibull  *Process    `yaml:"weibull,omitempty" json:"weibull,omitempty"`
	Constant *Process    `yaml:"constant,omitempty" json:"constant,omitempty"`
	Closed   *ClosedLoop `yaml:"closed,omitempty" json:"closed,omitempty"`
}

// Process is a renewal process. With a session, an arrival starts a session.
type Process struct {
	Rate    float64  `yaml:"rate" json:"rate"`                       // arrivals per second
	Shape   float64  `yaml:"shape,omitempty" json:"shape,omitempty"` // gamma and Weibull; 1 is Poisson
	Windows []Window `yaml:"windows,omitempty" json:"windows,omitempty"`
	Source  string   `yaml:"source,omitempty" json:"source,omitempty"` // as a distribution's
	Fit     string   `yaml:"fit,omitempty" json:"fit,omitempty"`
}

// Window scales the rate from Start to End, in seconds; outside every window the
// rate is unscaled. A factor of 0 is silence.
type Window struct {
	Start  float64 `yaml:"start" json:"start" jsonschema:"default=0"`
	End    float64 `yaml:"end" json:"end"`
	Factor float64 `yaml:"factor" json:"factor" jsonschema:"default=0"`
}

// ClosedLoop keeps Concurrency requests (or sessions) outstanding.
type ClosedLoop struct {
	Concurrency int           `yaml:"concurrency" json:"concurrency"`
	Think       *Distribution `yaml:"think,omitempty" json:"think,omitempty"` // seconds between an end and the next request
}

// Session is a conversation: each round's prompt is the whole context so far and
// then new tokens.
type Session struct {
	Rounds Distribution  `yaml:"rounds" json:"rounds"`
	Think  *Distribution `yaml:"think,omitempty" json:"think,omitempty"` // seconds from a response to the next round
}

// Prefix is content shared by a share of the requests (or sessions).
type Prefix struct {
	Name   string        `yaml:"name" json:"name"`
	Tokens int           `yaml:"tokens" json:"tokens"`
	Share  float64       `yaml:"share" json:"share" jsonschema:"default=0"`
	Prompt *Distribution `yaml:"prompt,omitempty" json:"prompt,omitempty"` // instead of the client's, for these
	Output *Distribution `yaml:"output,omitempty" json:"output,omitempty"`
}

// Objectives are a class's service levels in seconds. Absent is none, which a 0 is here alone: a
// scenario that writes one out is refused.
type Objectives struct {
	TTFT float64 `yaml:"ttft,omitempty" json:"ttft,omitempty"`
	TPOT float64 `yaml:"tpot,omitempty" json:"tpot,omitempty"`
	E2E  float64 `yaml:"e2e,omitempty" json:"e2e,omitempty"`
}

// LengthPair is one weighted point of a joint length distribution.
type LengthPair struct {
	Prompt int     `yaml:"prompt" json:"prompt"`
	Output int     `yaml:"output" json:"output"`
	Weight float64 `yaml:"weight" json:"weight"`
}

// Trace replays requests from a file the caller supplies.
type Trace struct {
	Path   string `yaml:"path" json:"path"`
	SHA256 string `yaml:"sha256,omitempty" json:"sha256"` // checked when stated; the Result states it always
	// Scale multiplies every time of sending and every wait, no deadline; 1 unless stated.
	Scale float64 `yaml:"scale,omitempty" json:"scale" jsonschema:"default=1"`
}
