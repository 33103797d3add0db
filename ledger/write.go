package ledger

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/swap"
)

// Files returns the bytes of every file of l by slash-separated name. The same
// ledger always gives the same bytes.
func (l *Ledger) Files() (map[string][]byte, error) {
	units, err := encodeLines(l.Units)
	if err != nil {
		return nil, err
	}
	report, err := canon.Indent(l.Report)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{
		unitsFile:  units,
		reportFile: report,
		fitFile:    encodeIDs(l.Published.Fit),
		anchorFile: encodeIDs(l.Published.Anchor),
		seedFile:   encodeIDs([]string{l.Published.SeedSHA256}),
	}
	if l.Partition != nil {
		if files[partitionFile], err = canon.Indent(l.Partition); err != nil {
			return nil, err
		}
	}
	if len(l.Legacy) > 0 {
		if files[legacyFile], err = encodeLines(l.Legacy); err != nil {
			return nil, err
		}
	}
	if len(l.Aliases) > 0 {
		if files[aliasFile], err = encodeLines(l.Aliases); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// Write makes dir the ledger l: it writes a sibling directory and exchanges the
// two, so dir is never half-written. A dir that holds anything but a
// ledger's files is refused.
func (l *Ledger) Write(dir string) error {
	files, err := l.Files()
	if err != nil {
		return err
	}
	if err := onlyLedger(dir); err != nil {
		return err
	}
	dir = filepath.Clean(dir)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return unwritable(dir, err)
	}
	work, done, err := swap.Workspace(dir)
	if err != nil {
		return unwritable(dir, err)
	}
	defer done()
	next := filepath.Join(work, "next")
	for name, data := range files { //determinism:any-order each file stands alone
		path := filepath.Join(next, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return unwritable(dir, err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return unwritable(dir, err)
		}
	}
	if err := swap.Dir(next, dir); err != nil {
		return unwritable(dir, err)
	}
	return nil
}

func onlyLedger(dir string) error {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return unwritable(dir, err)
	}
	for _, e := range entries {
		if !slices.Contains([]string{unitsFile, reportFile, "published", partitionFile, legacyFile, aliasFile}, e.Name()) {
			return &diag.Refusal{File: dir, Value: e.Name(), Problem: "is no part of a ledger, and the directory would be replaced", Accept: "a new or empty directory, or one that ledger ingest made"}
		}
	}
	return nil
}

func unwritable(dir string, err error) error {
	return &diag.Refusal{File: dir, Problem: "cannot be written: " + err.Error(), Accept: "a directory you may write"}
}
