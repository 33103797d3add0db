package invariants

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"
)

// Module is a source tree as the checks read it: every file by path relative to its
// root, Go files parsed. Test data, generated output and fetched packages are no part.
type Module struct {
	Path    string            // as go.mod states it
	Files   map[string][]byte // nil for files that are data
	Go      []*GoFile         // sorted by path
	Folders map[string]bool
	Bytes   int64 // of every file, test data included
}

// GoFile is one parsed file.
type GoFile struct {
	*ast.File
	Path string
	fset *token.FileSet
}

// Load reads and parses the tree below root.
func Load(root fs.FS) (*Module, error) {
	m := &Module{Files: map[string][]byte{}, Folders: map[string]bool{".": true}}
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && foreign(p, d.Name()):
			return fs.SkipDir
		case d.IsDir():
			m.Folders[p] = true
			return nil
		}
		return m.add(root, p, d)
	})
	m.Path = modfile.ModulePath(m.Files["go.mod"])
	return m, err
}

// foreign directories are not of the source tree.
func foreign(p, name string) bool {
	return slices.Contains([]string{"node_modules", "public", "dist"}, name) ||
		strings.HasPrefix(name, ".") && !slices.Contains([]string{".", ".github", ".ci"}, p)
}

// texts are the extensions that checks read; other files are data.
var texts = []string{".go", ".mod", ".md", ".yml", ".yaml", ".txt", ".json", ".html", ".css", ".js", ".ts", ".svg", ".toml", ".cff", ""}

func (m *Module) add(root fs.FS, p string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	m.Bytes += info.Size()
	m.Files[p] = nil
	const large = 1 << 20
	if strings.Contains("/"+p, "/testdata/") || info.Size() > large || !slices.Contains(texts, path.Ext(p)) {
		return nil
	}
	src, err := fs.ReadFile(root, p)
	if err != nil {
		return err
	}
	m.Files[p] = src
	if path.Ext(p) != ".go" {
		return nil
	}
	f := &GoFile{Path: p, fset: token.NewFileSet()}
	f.File, err = parser.ParseFile(f.fset, p, src, parser.ParseComments|parser.SkipObjectResolution)
	m.Go = append(m.Go, f)
	return err
}

// At is a position as `file:line`.
func (f *GoFile) At(p token.Pos) string { return f.Path + ":" + strconv.Itoa(f.fset.Position(p).Line) }

// Dir is the package's folder.
func (f *GoFile) Dir() string { return path.Dir(f.Path) }

// Test says that the file is compiled for tests alone.
func (f *GoFile) Test() bool { return strings.HasSuffix(f.Path, "_test.go") }

// Packages is each package's folder and the first sentence of its comment.
func (m *Module) Packages() map[string]string {
	out := map[string]string{}
	for _, f := range m.Go {
		if f.Doc != nil && !f.Test() {
			out[f.Dir()] = new(doc.Package).Synopsis(f.Doc.Text())
		}
	}
	return out
}

// Copy writes the files of the tree below root to dir, and returns the digest of their
// paths and contents.
func Copy(dir string, root fs.FS) (digest string, err error) {
	h := sha256.New()
	err = fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		to := filepath.Join(dir, filepath.FromSlash(p))
		switch {
		case err != nil:
			return err
		case d.IsDir() && foreign(p, d.Name()):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(to, 0o755)
		}
		data, err := fs.ReadFile(root, p)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %d\n%s", p, len(data), data)
		return os.WriteFile(to, data, 0o644)
	})
	return fmt.Sprintf("%x", h.Sum(nil)), err
}
