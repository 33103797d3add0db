//go:build !linux && !darwin

package swap

import "os"

// exchange takes three steps here: the old directory is first set aside.
func exchange(a, b string) error {
	aside := Aside(b)
	if err := os.Rename(b, aside); err != nil {
		return err
	}
	if err := os.Rename(a, b); err != nil {
		return err
	}
	return os.Rename(aside, a)
}
