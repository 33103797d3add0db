package mutate

import (
	"os"
	"strconv"
)

// Variable is the environment variable that wakes one break from the start.
const Variable = "MUTANT"

// Awake is the ID of the break that is awake; 0 is none. Planted source reads it.
var Awake, _ = strconv.Atoi(os.Getenv(Variable))

// Reached marks, by ID, the breaks that were passed; nil does not mark.
var Reached []bool

// On reports whether a break is awake.
func On(id int) bool {
	if Reached != nil {
		Reached[id] = true
	}
	return id == Awake
}

// Off is v, or one more where the break is awake.
func Off[T ~int | ~int32 | ~int64 | ~uint8 | ~uint32 | ~uint64 | ~float64](id int, v T) T {
	if On(id) {
		return v + 1
	}
	return v
}
