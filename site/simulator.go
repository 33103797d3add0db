package site

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"path/filepath"

	"github.com/inference-sim/accuracy-dashboard/site/wasm"
)

// simulator puts m where the pages' scripts find it and returns the size a reader fetches, or ""
// for none. The module is compressed here, not by a server that may not, and its name claims no
// encoding that a server could undo.
func (s *source) simulator(m *wasm.Module) (size string, err error) {
	if m == nil {
		return "", nil
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err = z.Write(m.Code); err == nil {
		err = z.Close()
	}
	if err != nil {
		return "", err
	}
	for name, data := range map[string][]byte{"sim/blis.bin": packed.Bytes(), "js/wasm_exec.js": m.Glue} {
		if err := s.write("the simulator", filepath.Join(s.dir, "assets", filepath.FromSlash(name)), data); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%.1f MB", float64(packed.Len())/1e6), s.File("licenses/go.txt", m.License)
}
