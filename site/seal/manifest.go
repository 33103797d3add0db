// Package seal closes a built site and checks one that is closed.
//
// In goes a directory of files, out comes the same directory with three more: SHA256SUMS (every
// other file, sorted by path), site.sigstore.json (a sigstore bundle v0.3 whose DSSE envelope
// carries an in-toto Statement over SHA256SUMS) and site.pub (the public key, for readers; it is
// never trusted by [Verify] when a key is given). Verify reads the directory back from disk and
// names the first thing that differs.
//
// Everything but the bundle and an ephemeral key is a pure function of the files. Nothing here
// reads the network or a clock.
package seal

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
)

// Names of the files sealing adds. None of them is listed in the manifest.
const (
	ManifestName = "SHA256SUMS"
	BundleName   = "site.sigstore.json"
	KeyName      = "site.pub"
)

func addedBySealing(path string) bool {
	return path == ManifestName || path == BundleName || path == KeyName || path == KeylessName
}

// entry is one line of the manifest: a slash-separated path and the SHA-256 of the file.
type entry struct{ path, sum string }

// A DifferenceError says which file of a site is not what its manifest says.
// It is the answer "no", as opposed to an error that kept Verify from answering.
type DifferenceError struct {
	Path string // slash-separated, relative to the site
	What string // "changed", "removed", "added", "is a symbolic link", ...
}

func (e *DifferenceError) Error() string { return e.Path + ": " + e.What }

// A NotSealedError says why there is nothing to verify at Dir.
type NotSealedError struct{ Dir, What string }

func (e *NotSealedError) Error() string { return e.Dir + ": " + e.What }

// sealed refuses a dir in which there is no trace of a seal. One trace is enough for the others
// to be missed as differences.
func sealed(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &NotSealedError{dir, "no such directory"}
	case err != nil:
		return err
	case !info.IsDir():
		return &NotSealedError{dir, "is not a directory"}
	}
	for _, name := range []string{ManifestName, BundleName, KeyName} {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return &NotSealedError{dir, "is not a sealed site: has no " + ManifestName}
}

// noneEmpty takes a directory without files for a difference: the manifest lists files alone.
func noneEmpty(dir string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		entries, err := os.ReadDir(name)
		if err != nil || len(entries) > 0 {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		return &DifferenceError{filepath.ToSlash(rel), "added: an empty directory"}
	})
}

// list hashes every regular file under dir but those sealing adds, sorted by path as bytes.
// A symbolic link or another irregular file is a difference: a manifest cannot speak for it.
func list(dir string) ([]entry, error) {
	var entries []entry
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			return &DifferenceError{rel, "is a symbolic link"}
		case !d.Type().IsRegular():
			return &DifferenceError{rel, "is not a regular file"}
		case strings.ContainsAny(rel, "\n\\"):
			return &DifferenceError{rel, "has a name that a manifest line cannot carry"}
		case addedBySealing(rel):
			return nil
		}
		entries = append(entries, entry{path: rel})
		return nil
	})
	if err != nil {
		return nil, err
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].path < entries[j].path })
	return entries, hashAll(dir, entries)
}

// Foreign is the first file below dir that neither its manifest lists nor sealing adds; ""
// for none. A manifest that cannot be read is a *DifferenceError.
func Foreign(dir string) (string, error) {
	data, err := read(dir, ManifestName)
	if err != nil {
		return "", err
	}
	entries, err := parse(data)
	if err != nil {
		return "", err
	}
	listed := map[string]bool{}
	for _, e := range entries {
		listed[e.path] = true
	}
	foreign := ""
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if rel = filepath.ToSlash(rel); err == nil && !listed[rel] && !addedBySealing(rel) {
			foreign = rel
			return fs.SkipAll
		}
		return err
	})
	return foreign, err
}

// hashAll fills the sums in, on every core; the error is that of the first file with one.
func hashAll(dir string, entries []entry) error {
	faults := make([]error, len(entries))
	var next atomic.Int64
	var readers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(entries)); i = next.Add(1) - 1 {
				entries[i].sum, faults[i] = hashFile(filepath.Join(dir, filepath.FromSlash(entries[i].path)))
			}
		})
	}
	readers.Wait()
	return cmp.Or(faults...)
}

func hashFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// format renders entries in the form `sha256sum -c` reads.
func format(entries []entry) []byte {
	var b bytes.Buffer
	for _, e := range entries {
		fmt.Fprintf(&b, "%s  %s\n", e.sum, e.path)
	}
	return b.Bytes()
}

// parse reads a manifest strictly: sorted, no duplicate, no path that leaves the site.
func parse(data []byte) ([]entry, error) {
	var entries []entry
	scan := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; scan.Scan(); n++ {
		sum, path, found := strings.Cut(scan.Text(), "  ")
		raw, err := hex.DecodeString(sum)
		if !found || err != nil || len(raw) != sha256.Size || !fs.ValidPath(path) || addedBySealing(path) {
			return nil, &DifferenceError{ManifestName, fmt.Sprintf("line %d is not `sha256  path`: %q", n, scan.Text())}
		}
		if len(entries) > 0 && entries[len(entries)-1].path >= path {
			return nil, &DifferenceError{ManifestName, fmt.Sprintf("line %d is out of order: %s", n, path)}
		}
		entries = append(entries, entry{path, sum})
	}
	return entries, scan.Err()
}

// compare walks both sorted lists at once and returns the first difference, or nil.
func compare(stated, found []entry) error {
	for i, j := 0, 0; i < len(stated) || j < len(found); i, j = i+1, j+1 {
		switch {
		case j == len(found) || i < len(stated) && stated[i].path < found[j].path:
			return &DifferenceError{stated[i].path, "removed: listed in " + ManifestName + ", not there"}
		case i == len(stated) || found[j].path < stated[i].path:
			return &DifferenceError{found[j].path, "added: there, not listed in " + ManifestName}
		case stated[i].sum != found[j].sum:
			return &DifferenceError{found[j].path, "changed: SHA-256 is " + found[j].sum + ", " + ManifestName + " says " + stated[i].sum}
		}
	}
	return nil
}

// read returns a file that sealing adds; its absence is a difference.
func read(dir, name string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &DifferenceError{name, "removed: a sealed site has this file"}
	}
	return data, err
}
