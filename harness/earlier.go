package harness

import (
	"regexp"

	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"golang.org/x/mod/semver"
)

// numbered finds the release in a version or an image's tag: "0.17.0",
// "vllm/vllm-openai:v0.11.2". A nightly or a digest has none.
var numbered = regexp.MustCompile(`(?:^|[:v])(\d+\.\d+\.\d+)`)

// earlier states the defaults of the run's own release where the modelled one
// changed them and the run said nothing. Each is an estimate: the source records
// neither. A run without a release number keeps the modelled defaults.
func (d *decider) earlier() {
	m := numbered.FindStringSubmatch(d.trial.EngineVersion)
	if m == nil || d.list == nil {
		return
	}
	for i := range d.list.Fields {
		f := &d.list.Fields[i]
		if f.Earlier == nil || semver.Compare("v"+m[1], "v"+f.Earlier.Before) >= 0 || d.args.has(f.Name) || d.env[f.Name] != "" {
			continue
		}
		d.carry(passed{name: f.Name, value: parse(f.Earlier.Value), env: f.Kind == "environment"})
		d.trial.Estimates = append(d.trial.Estimates, record.Estimate{
			Field: f.Name, Rule: "earlier default", StoodIn: f.Name + "=" + f.Earlier.Value, Reason: f.Earlier.Reason,
		})
	}
}
