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

// Stale compares rendered files with the tree at root and says, file by file, what is
// missing, different or no longer rendered. others are paths below content/generated
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
			for _, d := range differences(string(got), string(files[p])) {
				out = append(out, p+":"+d)
			}
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

// differences are the lines that changed; where lines came or went, the first of them.
func differences(got, want string) (out []string) {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			out = append(out, fmt.Sprintf("%d: is %.80q, its owner says %.80q", i+1, g[i], w[i]))
		}
		if len(out) == 1 && len(g) != len(w) {
			return append(out, fmt.Sprintf("%d: has %d lines, its owner %d", i+1, len(g), len(w)))
		}
	}
	if out == nil {
		out = append(out, fmt.Sprintf("%d: has %d lines, its owner %d", min(len(g), len(w)), len(g), len(w)))
	}
	return out
}

func sortRows(rows [][]string) {
	slices.SortFunc(rows, func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
}
