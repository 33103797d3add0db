package site

import (
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

func TestSiteTellsFeedsCrawlersAndCitersWhatItHolds(t *testing.T) {
	out := build(t, 60, "")
	var rss struct {
		Items []struct {
			Link string `xml:"link"`
		} `xml:"channel>item"`
	}
	if err := xml.Unmarshal([]byte(read(t, out, "index.xml")), &rss); err != nil {
		t.Fatal(err)
	}
	var feed struct {
		Version string
		Items   []struct{ URL string }
	}
	if err := json.Unmarshal([]byte(read(t, out, "feed.json")), &feed); err != nil {
		t.Fatal(err)
	}
	latest := Home + "releases/v0.2.0/"
	if len(rss.Items) != 2 || len(feed.Items) != 2 || rss.Items[0].Link != latest || feed.Items[0].URL != latest {
		t.Errorf("got RSS %v and feed %v, want two releases, %s first", rss.Items, feed.Items, latest)
	}
	var cff map[string]any
	if err := yaml.Unmarshal([]byte(read(t, out, "CITATION.cff")), &cff); err != nil || cff["version"] != "unreleased" || cff["authors"] == nil {
		t.Errorf("CITATION.cff: got %v, %v", cff, err)
	}
	var dataset struct {
		Type string `json:"@type"`
	}
	_, rest, _ := strings.Cut(read(t, out, "index.html"), `<script type="application/ld+json">`)
	data, _, _ := strings.Cut(rest, "</script>")
	if err := json.Unmarshal([]byte(data), &dataset); err != nil || dataset.Type != "Dataset" {
		t.Errorf("JSON-LD: got %q, %v, want a Dataset", dataset.Type, err)
	}
	for name, want := range map[string]string{"robots.txt": "Sitemap: " + Home + "sitemap.xml", "sitemap.xml": "<loc>" + Home + "residuals/</loc>", "404.html": `href="` + Home + `"`} {
		if !strings.Contains(read(t, out, name), want) {
			t.Errorf("%s lacks %q", name, want)
		}
	}
}
