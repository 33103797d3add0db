package harness

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// Store is a directory of finished trials, one file a unit. Each file names the
// key of the build and unit that made it; another key makes it stale.
type Store struct{ Dir string }

// stored is the content of one file.
type stored struct {
	Key   string        `json:"key"`
	Trial *record.Trial `json:"trial"`
}

// key identifies everything a trial depends on: the build and the unit.
func (w *World) key(u *ledger.Unit) (string, error) {
	return canon.Hash(struct {
		Build map[string]string `json:"build"`
		Unit  *ledger.Unit      `json:"unit"`
	}{w.Build, u})
}

func (s *Store) path(id string) string { return filepath.Join(s.Dir, id+".json") }

// load returns nil when no trial of that key is stored.
func (s *Store) load(u *ledger.Unit, key string) (*record.Trial, error) {
	path := s.path(u.ID)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &diag.Refusal{File: path, Problem: "cannot be read: " + err.Error()}
	}
	var head struct {
		Key string `json:"key"`
	}
	if json.Unmarshal(data, &head) == nil && head.Key != key {
		return nil, nil
	}
	var f stored
	if err := strict.JSON(path, data, &f); err != nil {
		return nil, err
	}
	if f.Trial == nil || f.Trial.Unit == nil || f.Trial.Unit.ID != u.ID {
		return nil, &diag.Refusal{File: path, Field: "trial", Problem: "is not of unit " + u.ID, Accept: "a file this command wrote; delete it to try the unit again"}
	}
	f.Trial.Unit = u
	return f.Trial, diag.In(path, f.Trial.Check())
}

// save writes a trial beside its place and renames it, so that an interruption
// leaves the old file or the new one.
func (s *Store) save(key string, t *record.Trial) error {
	data, err := canon.JSON(stored{key, t})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return &diag.Refusal{File: s.Dir, Problem: "cannot be written: " + err.Error(), Accept: "a directory you may write"}
	}
	tmp, err := os.CreateTemp(s.Dir, ".trial-*")
	if err == nil {
		_, err = tmp.Write(data)
		err = errors.Join(err, tmp.Close())
	}
	if err == nil {
		err = os.Rename(tmp.Name(), s.path(t.Unit.ID))
	}
	if err != nil {
		if tmp != nil {
			os.Remove(tmp.Name())
		}
		return &diag.Refusal{File: s.path(t.Unit.ID), Problem: "cannot be written: " + err.Error(), Accept: "a directory you may write"}
	}
	return nil
}
