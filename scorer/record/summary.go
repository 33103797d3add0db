package record

// Summary is the published accuracy of one simulator build over one set of units.
type Summary struct {
	Schema     string      `json:"schema"`
	Build      Build       `json:"build"`
	Headline   []Accuracy  `json:"headline"` // one a metric, over G1 to G4
	ByGrade    []Accuracy  `json:"by_grade"`
	ByEngine   []Accuracy  `json:"by_engine"`
	ByLane     []Accuracy  `json:"by_lane"`
	ByChip     []Accuracy  `json:"by_chip"`
	ByModel    []Accuracy  `json:"by_model"`
	ByBand     []Accuracy  `json:"by_concurrency"`
	Distances  []Closeness `json:"distances"` // over G1 to G4, then each lane; of points whose source records percentiles
	Coverage   Coverage    `json:"coverage"`
	Experiment string      `json:"experimental,omitempty"` // why the figures may not be published as BLIS's accuracy
}

// Build is what made the figures.
type Build struct {
	Release   string            `json:"release"` // tag, or "unreleased"
	Commit    string            `json:"commit"`
	Toolchain string            `json:"toolchain"`
	Catalog   string            `json:"catalog"`  // content hash
	Registry  string            `json:"registry"` // content hash
	Ledger    string            `json:"ledger"`   // content hash
	Engines   map[string]string `json:"engines"`  // kind to version
}

// Accuracy is the error of one metric over one group of points.
type Accuracy struct {
	Group       string `json:"group"`
	Metric      string `json:"metric"`
	MAPE        Figure `json:"mape"` // mean absolute relative error
	MedianAPE   Figure `json:"median_ape"`
	Bias        Figure `json:"bias"`         // mean signed relative error
	Spread      Figure `json:"spread"`       // standard deviation of the signed relative error
	CountedMAPE Figure `json:"counted_mape"` // as MAPE, with an error inside the measurement noise counted as 0 (COV-10)
}

// Closeness is the distribution distance over one group of points (COV-10).
type Closeness struct {
	Group  string `json:"group"`
	Mean   Figure `json:"mean"`
	Median Figure `json:"median"`
}

// Coverage counts points; the counts add up.
type Coverage struct {
	Records  int            `json:"records"`  // read from the source
	LeftOut  int            `json:"left_out"` // by the ledger, with reasons in its report
	Units    int            `json:"units"`    // of the scored role
	Graded   int            `json:"graded"`
	ByGrade  map[Grade]int  `json:"by_grade"`
	ByReason map[Reason]int `json:"by_reason"`
	Rows     []CoverageRow  `json:"rows"`
}

// CoverageRow is coverage of one engine, engine release and chip.
type CoverageRow struct {
	Engine   string        `json:"engine"`
	Release  string        `json:"release"`
	Hardware string        `json:"hardware"`
	Units    int           `json:"units"`
	ByGrade  map[Grade]int `json:"by_grade"`
}

// Backlog is the ranked list of what lowers coverage or grade (§11.6).
type Backlog struct {
	Schema  string         `json:"schema"`
	Entries []BacklogEntry `json:"entries"` // most points first, then by name
}

// BacklogEntry is one thing to do. Its kind is "field", a setting that was stood in for;
// "fidelity", one that the port resolves otherwise; "value", one that no record states;
// "coefficient"; "library"; "client"; "release"; or "reason", what keeps points from being scored.
// Neither a refused item of an engine's surface nor an execution mode without a price is a kind:
// a run reaches the one through a setting, which is its reason, and the other ends the scoring.
type BacklogEntry struct {
	Engine   string `json:"engine"`
	Kind     string `json:"kind"`
	Name     string `json:"name"`
	Effect   string `json:"effect"` // "blocks" or "demotes"
	Points   int    `json:"points"`
	Playbook string `json:"playbook"` // what clears it (§12)
	Recipe   string `json:"recipe"`   // where that is written, below the site's root
	Detail   string `json:"detail"`
}
