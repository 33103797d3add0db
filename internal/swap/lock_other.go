//go:build !linux && !darwin

package swap

import "os"

// Here it cannot be told whether a process lives, so what another one made stays.
const locks = false

func lock(*os.File) error { return nil }
