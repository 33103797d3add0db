package page_test

import (
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/site/page"
	"github.com/inference-sim/accuracy-dashboard/site/sitetest"
)

// A release's page shows its own figures and build, leads to each of its files, and to no page of
// a present point.
func TestReleasePageShowsWhatWasPublished(t *testing.T) {
	in := sitetest.Release(120)
	for i := range in.Releases {
		r, sum := &in.Releases[i], *in.Releases[i].Summary
		sum.Headline = slices.Clone(sum.Headline)
		sum.Build.Commit = strings.Repeat(string(rune('a'+i)), 40)
		for k := range sum.Headline {
			sum.Headline[k].MAPE = record.NewFigure(0.4+0.01*float64(i), "ratio", 77, "G1 to G4", 0.3, 0.5, "x")
		}
		r.Summary = &sum
	}
	m := build(t, in)
	for i, r := range in.Releases {
		path := "releases/" + r.Name + "/"
		d, ok := m.docs[path]
		if !ok {
			t.Fatalf("%s is missing", path)
		}
		links, text := read(t, d.Body)
		for name := range m.files {
			if strings.HasPrefix(name, page.SnapshotsDir+"/"+r.ID+"/") && !slices.Contains(links, "../../"+name) {
				t.Errorf("%s does not lead to %s", path, name)
			}
		}
		for _, l := range links {
			if strings.Contains(l, "points/") {
				t.Errorf("%s leads to the present point %s", path, l)
			}
		}
		for _, want := range []string{r.ID, r.Summary.Build.Commit, string(rune('0'+4)) + string(rune('0'+i)) + ".0%", "77 points"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", path, want)
			}
		}
		if links, _ := read(t, m.docs["releases/"].Body); !slices.Contains(links, "../"+path) {
			t.Errorf("the list does not lead to %s", path)
		}
	}
	if len(in.Releases) < 2 {
		t.Errorf("got releases %v, want two or more", slices.Collect(maps.Keys(m.docs)))
	}
}

// read checks that body's elements are closed in order, and returns its links and its text.
func read(t *testing.T, body string) (links []string, text string) {
	t.Helper()
	d, open := xml.NewDecoder(strings.NewReader(body)), []string{}
	d.Strict, d.Entity = false, xml.HTMLEntity
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			if len(open) > 0 {
				t.Fatalf("not closed: %q", open)
			}
			return links, text
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if !slices.Contains(xml.HTMLAutoClose, e.Name.Local) && e.Name.Local != "source" {
				open = append(open, e.Name.Local)
			}
			for _, a := range e.Attr {
				if a.Name.Local == "href" {
					links = append(links, a.Value)
				}
			}
		case xml.EndElement:
			if slices.Contains(xml.HTMLAutoClose, e.Name.Local) || e.Name.Local == "source" {
				continue
			}
			if len(open) == 0 || open[len(open)-1] != e.Name.Local {
				t.Fatalf("%s is closed within %q", e.Name.Local, open)
			}
			open = open[:len(open)-1]
		case xml.CharData:
			text += string(e)
		}
	}
}
