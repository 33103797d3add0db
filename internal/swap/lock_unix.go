//go:build linux || darwin

package swap

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const locks = true

func lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errHeld
	}
	return err
}
