package sim

import (
	"fmt"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/sim/des"
)

// stage is how far a request without a fate has come.
type stage uint8

const (
	travelling stage = iota // sent, and in no engine yet
	waiting                 // in an engine's queue, in no batch yet
	prefilling              // launched, without a token
	decoding                // has its first token
)

var stageNames = [...]string{travelling: "travelling", waiting: "waiting", prefilling: "prefilling", decoding: "decoding"}

// ends is the state machine of requests (SIM-8): a request passes through the stages in
// their order and may get one of these fates from each. A preempted one keeps its stage:
// its client has seen what it has seen.
var ends = [...][]fate{
	travelling: {timedOut, queued},
	waiting:    {dropped, timedOut, queued},
	prefilling: {dropped, timedOut, inFlight},
	decoding:   {completed, dropped, timedOut, inFlight},
}

func (r *request) stage() stage {
	switch {
	case r.arrived < 0:
		return travelling
	case r.launched < 0:
		return waiting
	case r.first == 0:
		return prefilling
	}
	return decoding
}

// mayEnd says why r cannot get fate f now, nil when it can.
func (r *request) mayEnd(f fate, now des.Time) error {
	s := r.stage()
	if !slices.Contains(ends[s], f) {
		return fmt.Errorf("sim: request %d: %s while %s (SIM-8)", r.serial, fateNames[f], stageNames[s])
	}
	last := r.sent
	for _, t := range [...]des.Time{r.arrived, r.launched, r.first, r.last, now} {
		if t > 0 && t < last {
			return fmt.Errorf("sim: request %d: went back from %d to %d us (SIM-8)", r.serial, last, t)
		}
		last = max(last, t)
	}
	return nil
}
