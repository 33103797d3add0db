package swap

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Workspace makes a temporary directory beside place, by its absolute path, so that
// what is finished there moves to place in one step; done removes it. Those that
// killed processes left for the same place are removed first; one whose process
// lives is locked and stays.
func Workspace(place string) (dir string, done func(), err error) {
	place, err = filepath.Abs(place)
	if err != nil {
		return "", nil, err
	}
	parent, prefix := filepath.Dir(place), "."+filepath.Base(place)+".new-"
	if err := clear(parent, prefix); err != nil {
		return "", nil, err
	}
	for {
		if dir, err = os.MkdirTemp(parent, prefix); err != nil {
			return "", nil, err
		}
		held, err := hold(dir)
		if errors.Is(err, errHeld) { // another process took it for a leftover
			continue
		}
		if err != nil {
			return "", nil, errors.Join(err, os.RemoveAll(dir))
		}
		return dir, func() { os.RemoveAll(dir); held.Close() }, nil
	}
}

// clear removes every directory of parent whose name begins with prefix and that no
// process holds.
func clear(parent, prefix string) error {
	if !locks {
		return nil
	}
	entries, err := os.ReadDir(parent)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		left := filepath.Join(parent, e.Name())
		held, err := hold(left)
		if errors.Is(err, errHeld) {
			continue
		}
		if err != nil {
			return err
		}
		if err := errors.Join(os.RemoveAll(left), held.Close()); err != nil {
			return err
		}
	}
	return nil
}

// errHeld says that a workspace belongs to another process, or is gone.
var errHeld = errors.New("held by another process")

// hold locks dir until the file is closed or the process ends.
func hold(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errHeld
	}
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	was, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if now, err := os.Lstat(dir); err != nil || !os.SameFile(was, now) { // removed before it was locked
		return nil, errors.Join(errHeld, f.Close())
	}
	return f, nil
}
