package site

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// outline is what a reader's tools take a page for.
type outline struct {
	meta     map[string]string // of <meta> by name or property, and the title and the canonical address
	headings []int             // levels, in order
	tables   []string          // what each is called
}

func TestEveryPageSaysWhatItIs(t *testing.T) {
	out := shared(t, "")
	titles, n := map[string]string{}, 0
	err := filepath.WalkDir(out, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "index.html" {
			return err
		}
		n++
		path, err := filepath.Rel(out, filepath.Dir(name))
		if err != nil {
			return err
		}
		o := outlineOf(t, name)
		for _, want := range []string{"title", "canonical", "description", "og:title", "og:description", "og:url", "og:site_name"} {
			if o.meta[want] == "" {
				t.Errorf("%s: no %s", path, want)
			}
		}
		if other, taken := titles[o.meta["title"]]; taken && !strings.HasPrefix(path, "points/") {
			t.Errorf("%s has the title of %s: %s", path, other, o.meta["title"])
		}
		titles[o.meta["title"]] = path
		for i, level := range o.headings {
			if i == 0 && level != 1 || i > 0 && (level == 1 || level > o.headings[i-1]+1) {
				t.Errorf("%s: got headings of levels %v, want one first, and none skipped", path, o.headings)
				break
			}
		}
		for i, name := range o.tables {
			if name == "" {
				t.Errorf("%s: table %d has no name", path, i+1)
			}
		}
		return nil
	})
	if err != nil || n == 0 {
		t.Fatalf("read %d pages: %v", n, err)
	}
}

func outlineOf(t *testing.T, name string) outline {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := html.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	o := outline{meta: map[string]string{}}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		a := map[string]string{}
		for _, at := range n.Attr {
			a[at.Key] = at.Val
		}
		switch n.Data {
		case "meta":
			o.meta[a["name"]+a["property"]] = a["content"]
		case "link":
			o.meta[a["rel"]] = a["href"]
		case "title":
			if n.Parent.Data == "head" {
				o.meta["title"] = n.FirstChild.Data
			}
		case "h1", "h2", "h3", "h4":
			o.headings = append(o.headings, int(n.Data[1]-'0'))
		case "table":
			region := ""
			for _, at := range n.Parent.Attr {
				if at.Key == "aria-label" {
					region = at.Val
				}
			}
			o.tables = append(o.tables, region)
		}
	}
	return o
}
