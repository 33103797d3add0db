package spec

// Generator names the random generator of this build: substreams seeded by
// SHA-256, drawn by PCG (internal/substream). It is part of the frame, because a
// new generator changes every draw (DEV-6).
const Generator = "sha256-pcg/1"

// Frame says under which conditions the run measures (§8.6).
type Frame struct {
	Kind       string   `yaml:"kind" json:"kind" jsonschema:"default=terminating"` // Kinds
	Seed       uint64   `yaml:"seed" json:"seed" jsonschema:"default=0"`
	Generator  string   `yaml:"generator" json:"generator" jsonschema:"default=sha256-pcg/1"`
	Initial    string   `yaml:"initial_state" json:"initial_state" jsonschema:"default=empty"` // "empty": no cached block, no request
	Warmup     Warmup   `yaml:"warmup,omitempty" json:"warmup"`
	Drain      string   `yaml:"drain" json:"drain" jsonschema:"default=measured"` // Drains
	Stop       Stop     `yaml:"stop,omitempty" json:"stop"`
	Accept     *Accept  `yaml:"accept,omitempty" json:"accept"`
	Unfinished string   `yaml:"unfinished" json:"unfinished" jsonschema:"default=excluded"` // "excluded" from latencies, their count beside the figure
	Metrics    []string `yaml:"metrics,omitempty" json:"metrics"`                           // registry ids; absent is all
	Scopes     []string `yaml:"scopes,omitempty" json:"scopes"`                             // Scopes; absent is cluster alone
}

// Warmup leaves the start of a steady-state run out of the measurement. At most one
// rule is stated; none measures from the first request, as a terminating run does. A benchmark client's own warm-up
// requests belong to the client and come before either.
type Warmup struct {
	Requests int     `yaml:"requests,omitempty" json:"requests,omitempty"` // the first so many requests sent
	Seconds  float64 `yaml:"seconds,omitempty" json:"seconds,omitempty"`   // requests sent before this time
}

// Stop ends the run when either bound is reached.
type Stop struct {
	Requests int     `yaml:"requests,omitempty" json:"requests,omitempty"` // requests sent; 0 leaves it to the workload
	Horizon  float64 `yaml:"horizon,omitempty" json:"horizon,omitempty"`   // simulated seconds; 0 is none
}

// Accept are the conditions under which the run counts; a run that fails one
// gives no figure. Absent, at most 5% may fail and any share be unfinished; what a
// stated Accept leaves out is 0.
type Accept struct {
	// Failed and Unfinished are the largest accepted shares of measured requests;
	// Unfinished is not checked when it is 1.
	Failed     float64 `yaml:"failed" json:"failed" jsonschema:"default=0"`
	Unfinished float64 `yaml:"unfinished" json:"unfinished" jsonschema:"default=0"`
	// Concurrency is the accepted relative difference between the achieved and the
	// target concurrency while requests remain to be sent; 0 is not checked.
	Concurrency float64 `yaml:"concurrency,omitempty" json:"concurrency,omitempty"`
}

// Kinds lists what a run measures: "terminating" a fixed amount of work,
// "steady_state" a system that has settled. Only a settled run of the second kind
// gives a latency (DEV-10).
func Kinds() []string { return []string{"terminating", "steady_state"} }

// Drains lists what becomes of the time after the last request was sent:
// "measured" is inside the window, as a benchmark client's tail; "excluded"
// closes the window when the last request is sent.
func Drains() []string { return []string{"measured", "excluded"} }

// Scopes lists the kinds of scope a frame can ask for. Every instance of a cluster is
// of one pool, pool:0.
func Scopes() []string { return []string{"cluster", "pool", "instance", "class", "tenant"} }
