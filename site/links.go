package site

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/net/html"
)

// reference is a link or an embedded file as a page states it.
type reference struct {
	page string // the page's file, slash-separated
	line int
	url  string
	load bool // the page would load it, rather than link to it
}

// scanned is what a page states.
type scanned struct {
	page string
	ids  map[string]bool
	refs []reference
	err  error
}

// checkLinks reads every page in dir and refuses links to files or anchors that are not there,
// and any page that would load a file from elsewhere.
func checkLinks(dir string) error {
	pages, err := pages(dir)
	if err != nil {
		return err
	}
	scanAll(dir, pages)
	anchors := map[string]map[string]bool{}
	for _, p := range pages {
		if p.err != nil {
			return p.err
		}
		anchors[p.page] = p.ids
	}
	var faults []error
	known := map[string]bool{}
	for _, p := range pages {
		for _, r := range p.refs {
			if fault := r.check(dir, anchors, known); fault != "" {
				faults = append(faults, fmt.Errorf("%s:%d: %s: %s", r.page, r.line, r.url, fault))
			}
		}
	}
	const most = 20
	if len(faults) > most {
		faults = append(faults[:most], fmt.Errorf("and %d more", len(faults)-most))
	}
	return errors.Join(faults...)
}

// pages lists the pages below dir, not yet read, by path.
func pages(dir string) (all []scanned, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".html" {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		all = append(all, scanned{page: filepath.ToSlash(rel)})
		return err
	})
	return all, err
}

// scanAll reads pages on every core.
func scanAll(dir string, pages []scanned) {
	var next atomic.Int64
	var readers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(pages)); i = next.Add(1) - 1 {
				p := &pages[i]
				p.ids, p.refs, p.err = scan(filepath.Join(dir, filepath.FromSlash(p.page)), p.page)
			}
		})
	}
	readers.Wait()
}

func scan(name, rel string) (ids map[string]bool, refs []reference, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	ids = map[string]bool{}
	line := 1
	for z := html.NewTokenizer(f); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			if errors.Is(z.Err(), io.EOF) {
				return ids, refs, nil
			}
			return nil, nil, fmt.Errorf("%s:%d: %w", rel, line, z.Err())
		}
		here := line
		line += bytes.Count(z.Raw(), []byte("\n"))
		if kind == html.StartTagToken || kind == html.SelfClosingTagToken {
			refs = append(refs, attributes(z, ids, reference{page: rel, line: here})...)
		}
	}
}

// attributes collects the id and the references of the tag that z stands at. It reads them one by
// one: whole tokens of every page were a tenth of a build.
func attributes(z *html.Tokenizer, ids map[string]bool, at reference) (refs []reference) {
	name, more := z.TagName()
	isLink, canonical := string(name) == "link", false
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "id":
			ids[string(value)] = true
		case "rel":
			canonical = isLink && string(value) == "canonical"
		case "src", "srcset", "href":
			at.url, at.load = string(value), isLink || string(key) != "href"
			refs = append(refs, at)
		}
	}
	if canonical { // the one <link> that names a page by its full address
		for i := range refs {
			refs[i].load = false
		}
	}
	return refs
}

// check returns what is wrong with r, or "".
func (r reference) check(dir string, anchors map[string]map[string]bool, known map[string]bool) string {
	u, err := url.Parse(r.url)
	switch {
	case err != nil:
		return err.Error()
	case r.load && u.Host != "":
		return "would be loaded from elsewhere"
	case u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "mailto":
		return ""
	case u.Scheme != "" || u.Host != "" || strings.HasPrefix(u.Path, "/"):
		return "is not relative to the page"
	}
	target := path.Join(path.Dir(r.page), u.Path)
	if u.Path == "" {
		target = r.page
	} else if strings.HasSuffix(u.Path, "/") || u.Path == "." || u.Path == ".." {
		target = path.Join(target, "index.html")
	}
	if strings.HasPrefix(target, "..") {
		return "leaves the site"
	}
	if ids, isPage := anchors[target]; isPage {
		if u.Fragment != "" && !ids[u.Fragment] {
			return "the page has no such anchor"
		}
		return ""
	}
	if !known[target] {
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(target))); err != nil || info.IsDir() {
			return "no such file"
		}
		known[target] = true
	}
	return ""
}
