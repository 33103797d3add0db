package docgen

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Stale compares rendered files with the tree at root and says what is missing, different
// or no longer rendered, in a line for each file. others are paths below content/generated
// that another program renders.
func Stale(files map[string][]byte, root fs.FS, others ...string) ([]string, error) {
	var out []string
	for _, p := range sorted(files) {
		got, err := fs.ReadFile(root, p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			out = append(out, p+": is missing")
		case err != nil:
			return nil, err
		case !bytes.Equal(got, files[p]):
			out = append(out, p+":"+difference(string(got), string(files[p])))
		}
	}
	err := fs.WalkDir(root, strings.TrimSuffix(dir, "/"), func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		if _, ok := files[p]; !ok && !slices.Contains(others, p) {
			out = append(out, p+": is rendered by nothing; delete it")
		}
		return nil
	})
	return out, err
}

// difference is the first line that changed, and how many did or how many came or went.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	lines := fmt.Sprintf("has %d lines, its owner %d", len(g), len(w))
	first, changed := "", 0
	for i := range min(len(g), len(w)) {
		if g[i] == w[i] {
			continue
		}
		if changed++; first == "" {
			first = fmt.Sprintf("%d: is %.80q, its owner says %.80q", i+1, g[i], w[i])
		}
	}
	switch {
	case first == "":
		return fmt.Sprintf("%d: %s", min(len(g), len(w)), lines)
	case len(g) != len(w):
		return first + ", and " + lines
	case changed > 1:
		return fmt.Sprintf("%s, the first of %d lines", first, changed)
	}
	return first
}

func sortRows(rows [][]string) {
	slices.SortFunc(rows, func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
}
