package site

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/gohugoio/hugo/commands"
	"github.com/inference-sim/accuracy-dashboard/site/page"
)

//go:embed all:hugo
var shells embed.FS

// source is the folder Hugo reads and the folder it writes, both temporary.
type source struct {
	dir, out string
	made     map[string]string // output file to what made it, a folder to "": two makers of one file are a defect
}

func newSource(work string) (*source, error) {
	s := &source{dir: filepath.Join(work, "src"), out: filepath.Join(work, "out"), made: map[string]string{}}
	hugo, err := fs.Sub(shells, "hugo")
	if err != nil {
		return nil, err
	}
	return s, os.CopyFS(s.dir, hugo)
}

// Page writes d as Hugo content: the HTML of its blocks goes to a file that its layout reads as it
// renders, because Hugo keeps what a page's front matter holds in memory for every page at once.
func (s *source) Page(d page.Doc) error {
	name := d.Path + "_index.md"
	if !d.Section { // a file, not a folder of its own: there are many
		name = strings.TrimSuffix(d.Path, "/") + ".md"
	}
	body := "bodies/" + strings.ReplaceAll(d.Path, "/", "_") + ".html"
	params := map[string]any{"lead": d.Lead, "body": body, "view": d.View, "charts": d.Charts}
	if d.Dataset != "" {
		params["dataset"] = d.Dataset
	}
	if d.Release {
		params["release"] = true
	}
	front := map[string]any{"title": d.Title, "description": d.Description, "url": "/" + d.Path, "weight": d.Weight, "params": params}
	if d.LinkTitle != "" {
		front["linkTitle"] = d.LinkTitle
	}
	data, err := json.Marshal(front)
	if err != nil {
		return err
	}
	if err := s.write("body of "+d.Title, filepath.Join(s.dir, body), []byte(d.Body)); err != nil {
		return err
	}
	return s.write("page "+d.Title, filepath.Join(s.dir, "content", filepath.FromSlash(name)), append(data, '\n'))
}

// File writes a file of the site beside what Hugo makes.
func (s *source) File(name string, data []byte) error {
	if !fs.ValidPath(name) {
		return fmt.Errorf("%q is no path inside the site", name)
	}
	return s.write("file "+name, filepath.Join(s.out, filepath.FromSlash(name)), data)
}

func (s *source) write(maker, path string, data []byte) error {
	if before, ok := s.made[path]; ok {
		return fmt.Errorf("%s and %s would both write %s", before, maker, filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path))
	}
	folder := filepath.Dir(path)
	if _, there := s.made[folder]; !there {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	s.made[path], s.made[folder] = maker, ""
	return os.WriteFile(path, data, 0o644)
}

// prose adds pages made elsewhere. Markdown becomes a page at the url it states; any other file
// is published at the same place below home.
func (s *source) prose(content fs.FS, home string) error {
	return fs.WalkDir(content, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(content, name)
		if err != nil {
			return err
		}
		dir, base := path.Split(name)
		switch {
		case base == "index.md": // the pages beside it are pages, not its attachments
			base = "_index.md"
		case path.Ext(base) != ".md":
			return s.File(path.Join(home, name), data)
		}
		return s.write("prose "+name, filepath.Join(s.dir, "content", filepath.FromSlash(path.Join(home, dir, base))), data)
	})
}

// run builds the pages in this process: no program is started and nothing is fetched.
func (s *source) run(settings map[string]any, assets string) error {
	data, err := json.Marshal(map[string]any{"params": settings})
	if err != nil {
		return err
	}
	extra := filepath.Join(s.dir, "build.json")
	if err := os.WriteFile(extra, data, 0o644); err != nil {
		return err
	}
	if assets != "" {
		abs, err := filepath.Abs(assets)
		if err != nil {
			return err
		}
		if err := os.Symlink(abs, filepath.Join(s.dir, "node_modules")); err != nil {
			return err
		}
	}
	said, restore, err := capture(filepath.Join(filepath.Dir(s.dir), "hugo.log"))
	if err != nil {
		return err
	}
	err = commands.Execute([]string{"build", "--source", s.dir, "--destination", s.out, "--cacheDir", filepath.Join(filepath.Dir(s.dir), "cache"),
		"--config", filepath.Join(s.dir, "hugo.toml") + "," + extra, "--noBuildLock", "--panicOnWarning"})
	restore()
	if err != nil {
		text := err.Error() + "\n" + said()
		return fmt.Errorf("build the pages: %s", strings.ReplaceAll(text, s.dir+string(filepath.Separator), ""))
	}
	return nil
}

// capture keeps Hugo apart from the process it runs in: what it prints goes to a file, and the
// caller's HUGO_ variables, which it would take for settings, are hidden. said returns the errors
// it printed; restore puts everything back.
func capture(name string) (said func() string, restore func(), err error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, nil, err
	}
	hidden := map[string]string{}
	for _, v := range os.Environ() {
		if k, value, _ := strings.Cut(v, "="); strings.HasPrefix(k, "HUGO") {
			hidden[k] = value
			os.Unsetenv(k)
		}
	}
	stdout, stderr := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = f, f
	restore = func() {
		os.Stdout, os.Stderr = stdout, stderr
		log.SetOutput(stderr) // Hugo sets it
		for k, v := range hidden {
			os.Setenv(k, v)
		}
		f.Close()
	}
	said = func() string {
		data, err := os.ReadFile(name)
		if err != nil {
			return err.Error()
		}
		var faults []string
		for line := range strings.Lines(string(data)) {
			if strings.HasPrefix(line, "ERROR") {
				faults = append(faults, strings.TrimSpace(line))
			}
		}
		return strings.Join(faults, "\n")
	}
	return said, restore, nil
}

// LibraryThere says whether dir holds the chart library of the lockfile.
func LibraryThere(dir string) (bool, error) {
	if dir == "" {
		return false, nil
	}
	_, err := os.Stat(filepath.Join(dir, "echarts", "package.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
