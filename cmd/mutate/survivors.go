package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/mutate"
)

// key names a break without its line number, so that it outlives edits elsewhere.
func key(b mutate.Break) string {
	return fmt.Sprintf("%s: %s: %s: %s", filepath.ToSlash(b.File), b.Function, b.What, b.Text)
}

// explain compares survivors with the file that explains them: lines of keys, each
// run of them below a comment, "# why". unexplained survived without a line; stale
// are lines whose break did not survive, told only of a whole sweep.
func explain(path string, alive []mutate.Break, whole bool) (unexplained []mutate.Break, stale []string, err error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	known := map[string]bool{} // whether it survived
	var order []string
	why := ""
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		switch text, comment := strings.CutPrefix(line, "#"); {
		case line == "":
			why = ""
		case comment:
			why = strings.TrimSpace(text)
		case why == "":
			return nil, nil, fmt.Errorf("%s: %s: has no explanation above it", path, line)
		default:
			known[line] = false
			order = append(order, line)
		}
	}
	for _, b := range alive {
		if _, ok := known[key(b)]; !ok {
			unexplained = append(unexplained, b)
		}
		known[key(b)] = true
	}
	for _, k := range order {
		if whole && !known[k] {
			stale = append(stale, k)
		}
	}
	return unexplained, stale, nil
}
