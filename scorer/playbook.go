package scorer

import "github.com/inference-sim/accuracy-dashboard/scorer/record"

// playbook is what clears a kind of entry, and where it is written how (§12): below the
// site's root, a recipe for contributors or the rule that says when it is done.
type playbook struct{ clears, recipe string }

const (
	setting     = "contributing/add/#a-setting-of-an-engine"
	measuredRun = "contributing/add/#a-measured-run"
	coefficient = "contributing/add/#a-coefficient-or-a-pricing-form"
	catalogued  = "contributing/add/#a-model"
	ruleAt      = "reference/invariants/#"
)

// playbooks holds one for each kind of entry but "reason".
var playbooks = map[string]playbook{
	"field":       {"a port of the setting", setting},
	"fidelity":    {"a recorded scenario that fails, and its fix", ruleAt + "T-F1"},
	"value":       {"a record that states the value", measuredRun},
	"coefficient": {"a measured coefficient", coefficient},
	"library":     {"a coefficient of that library's kernel", ruleAt + "T-L1"},
	"client":      {"a record that says it of the client", measuredRun},
	"release":     {"a port of that engine release", ruleAt + "T-E1"},
}

// cleared holds one for each reason (§11.4).
var cleared = map[record.Reason]playbook{
	record.EngineUnsupported:   {"a new engine", ruleAt + "T-N1"},
	record.TopologyUnsupported: {"a new topology", ruleAt + "T-B1"},
	record.CodeNotVisible:      {"an engine release that ships the code", ruleAt + "T-E1"},
	record.RouterUnsupported:   {"a router policy that decides as llm-d's", ruleAt + "T-R3"},
	record.ValueNotRecorded:    {"a record that states it", measuredRun},
	record.FieldNotModelled:    {"a port of this setting", setting},
	record.FieldUnclassified:   {"a field list that classifies the setting", ruleAt + "T-E3"},
	record.NotInCatalog:        {"a new catalog entry", catalogued},
	record.FieldNotInRelease:   {"an engine release that has the setting", ruleAt + "T-E1"},
	record.ValueConflict:       {"records that agree: the source's to correct", measuredRun},
	record.BuildUnparseable:    {"a record that names the engine build: the source's to correct", measuredRun},
}
