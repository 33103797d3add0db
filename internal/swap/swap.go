// Package swap puts a finished directory in the place of another in one step, so
// that a reader, or a process killed at any moment, finds the old one or the new
// one and nothing between.
//
// In: two paths on one file system. Out: the new directory at the place, the old
// one gone. Where the system cannot exchange two names in one step (neither Linux
// nor macOS), there is a moment with neither, and the old one waits beside the
// place under the name Aside gives. Rule kept: COV-8.
package swap

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Aside is where the old directory waits to be removed. One found there was left by
// a killed process.
func Aside(place string) string {
	place = filepath.Clean(place)
	return filepath.Join(filepath.Dir(place), "."+filepath.Base(place)+".old")
}

// Dir moves next to place and removes what was there.
func Dir(next, place string) error {
	aside := Aside(place)
	if err := os.RemoveAll(aside); err != nil {
		return err
	}
	if _, err := os.Lstat(place); errors.Is(err, fs.ErrNotExist) {
		return os.Rename(next, place)
	} else if err != nil {
		return err
	}
	if err := exchange(next, place); err != nil {
		return err
	}
	if err := os.Rename(next, aside); err != nil {
		return err
	}
	return os.RemoveAll(aside)
}

// File writes data beside place and renames it there: the old content or the new.
func File(place string, data []byte) error {
	work, done, err := Workspace(place)
	if err != nil {
		return err
	}
	defer done()
	next := filepath.Join(work, "next")
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(next, place)
}
