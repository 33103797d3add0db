package record

import "maps"

// ChangeSchema names the layout of a Change.
const ChangeSchema = "blis.change/1"

// Change is what moved between the scores of two builds (§11.5). Figures cover the
// points that both grade G1 to G4.
type Change struct {
	Schema string        `json:"schema"`
	From   string        `json:"from"` // release, or "unreleased"
	To     string        `json:"to"`
	Whole  []LaneChange  `json:"whole"` // one a metric
	Lanes  []LaneChange  `json:"lanes"`
	Points []PointChange `json:"points"` // those whose figures or grade moved, by unit id
	Same   int           `json:"points_unchanged"`
	// Coverage is of every lane that has a point in either, first of all of them.
	Coverage []LaneCoverage `json:"coverage"`
}

// LaneCoverage counts a lane's points by grade on both sides; a grade without any is left
// out. A lane that is new or larger moves the headline without anything being worse (T-D4).
type LaneCoverage struct {
	Lane   string        `json:"lane"` // "all" for all of them
	Before map[Grade]int `json:"before"`
	After  map[Grade]int `json:"after"`
}

// Moved says that the two sides do not have the same counts.
func (l *LaneCoverage) Moved() bool { return !maps.Equal(l.Before, l.After) }

// Counts are the points of one side, and those of them that are scored.
func Counts(byGrade map[Grade]int) (points, scored int) {
	for g, n := range byGrade { //determinism:any-order a sum
		points += n
		if g != G5 {
			scored += n
		}
	}
	return points, scored
}

// LaneChange is the error of one metric over the same points before and after.
type LaneChange struct {
	Lane       string  `json:"lane"` // "G1 to G4" for all of them
	Metric     string  `json:"metric"`
	Before     Figure  `json:"before"` // mean absolute relative error
	After      Figure  `json:"after"`
	Difference Figure  `json:"difference"` // after - before, point by point
	Outcome    Outcome `json:"outcome"`
}

// Outcome says on which side of zero a difference lies. Over all comparisons of one Change
// the chance that any is falsely called better or worse is held by Holm's method, so that a
// 95% interval that leaves zero out may still be NotDistinguished (DEV-11).
type Outcome string

const (
	Better           Outcome = "better"
	Worse            Outcome = "worse"
	NotDistinguished Outcome = "not distinguished"
	NoPointMoved     Outcome = "no point moved"
	TooFew           Outcome = "too few points"
)

// PointChange is one point before and after; a point that one side does not know or
// does not grade has an error on the other side alone.
type PointChange struct {
	UnitID  string        `json:"unit_id"`
	Lane    string        `json:"lane"`
	Before  Grade         `json:"grade_before,omitempty"`
	After   Grade         `json:"grade_after,omitempty"`
	Metrics []MetricMoved `json:"metrics"` // by metric id; those of neither side are left out
}

// MetricMoved is the signed relative error of one metric on both sides; null where
// that side gives none.
type MetricMoved struct {
	Metric string   `json:"metric"`
	Before *float64 `json:"before"`
	After  *float64 `json:"after"`
}
