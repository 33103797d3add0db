package site

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"path/filepath"
)

// Simulator is the simulator as a reader's browser runs it.
type Simulator struct {
	Module  []byte // WebAssembly
	Glue    []byte // wasm_exec.js of the toolchain that made Module
	License []byte // of Glue and of the runtime in Module
}

// publish puts m where the pages' scripts find it and returns the size a reader fetches. The
// module is compressed here, not by a server that may not, and its name claims no encoding that a
// server could undo.
func (m *Simulator) publish(s *source) (size string, err error) {
	if m == nil {
		return "", nil
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err = z.Write(m.Module); err == nil {
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
