package fit

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// Table is one file of operator timings.
type Table struct {
	Path    string // <dir>/<family>/[<engine>/]<version>/<table>.csv.gz
	Dir     string // the chip as the tables name it
	Name    string // "gemm_perf"
	Engine  string // "vllm", "sglang", "nccl"
	Version string
	SHA256  string
	columns []string
	data    []byte
}

// tables lists the files below root in byte order.
func tables(root fs.FS) ([]string, error) {
	var out []string
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && (strings.HasSuffix(p, ".csv.gz") || strings.HasSuffix(p, ".csv")) {
			out = append(out, p)
		}
		return err
	})
	slices.Sort(out)
	return out, err
}

// openTable reads one file; its place in the tree says chip, engine and version.
func openTable(root fs.FS, p string) (*Table, error) {
	parts := strings.Split(p, "/")
	if len(parts) < 5 {
		return nil, &diag.Refusal{File: p, Problem: "is not placed as a table", Accept: "<chip>/<family>/<engine>/<version>/<table>.csv.gz"}
	}
	raw, err := fs.ReadFile(root, p)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(raw)
	n := len(parts)
	t := &Table{Path: p, Dir: parts[n-5], Engine: parts[n-3], Version: parts[n-2], SHA256: hex.EncodeToString(sum[:])}
	t.Name, _, _ = strings.Cut(path.Base(p), ".")
	if t.data = raw; strings.HasSuffix(p, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, &diag.Refusal{File: p, Problem: err.Error()}
		}
		if t.data, err = io.ReadAll(z); err != nil {
			return nil, &diag.Refusal{File: p, Problem: err.Error()}
		}
	}
	return t, nil
}

// row is one measurement: columns by name, and the line for messages.
type row struct {
	t      *Table
	at     map[string]int
	fields []string
	line   int
	err    error
}

// text is a column; "" when the table lacks it.
func (r *row) text(col string) string {
	if i, ok := r.at[col]; ok {
		return r.fields[i]
	}
	return ""
}

// num is a numeric column; the first one that does not read is kept in err.
func (r *row) num(col string) float64 {
	v, err := strconv.ParseFloat(r.text(col), 64)
	if err != nil && r.err == nil {
		r.err = &diag.Refusal{File: r.t.Path, Line: r.line, Field: col, Value: r.text(col), Problem: "is not a number"}
	}
	return v
}

// each calls f for every row of the table.
func (t *Table) each(f func(*row) error) error {
	in := csv.NewReader(bytes.NewReader(t.data))
	in.ReuseRecord = true
	head, err := in.Read()
	if err != nil {
		return &diag.Refusal{File: t.Path, Problem: err.Error()}
	}
	r := row{t: t, at: map[string]int{}, line: 1}
	for i, c := range slices.Clone(head) {
		r.at[c] = i
	}
	for {
		if r.fields, err = in.Read(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return &diag.Refusal{File: t.Path, Problem: err.Error()}
		}
		r.line++
		if err := f(&r); err != nil {
			return err
		}
		if r.err != nil {
			return fmt.Errorf("row not read: %w", r.err)
		}
	}
}
