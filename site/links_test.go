package site

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckLinks(t *testing.T) {
	cases := []struct {
		name, html string
		want       string // part of the fault; "" when accepted
	}{
		{"page", `<a href="a/">`, ""},
		{"page that is not there", `<a href="b/">`, "index.html:1: b/: no such file"},
		{"anchor", `<a href="a/#here">`, ""},
		{"anchor that is not there", `<a href="a/#there">`, "a/#there: the page has no such anchor"},
		{"own anchor", "\n<p id=\"x\"><a href=\"#x\">", ""},
		{"own anchor that is not there", "\n\n<a href=\"#y\">", "index.html:3: #y: the page has no such anchor"},
		{"picture", `<img src="a/p.svg">`, ""},
		{"picture that is not there", `<img src="p.svg">`, "p.svg: no such file"},
		{"query", `<a href="a/?x=1">`, ""},
		{"other site", `<a href="https://example.com/">`, ""},
		{"picture of another site", `<img src="https://example.com/p.svg">`, "would be loaded from elsewhere"},
		{"script of another site", `<script src="//example.com/s.js"></script>`, "would be loaded from elsewhere"},
		{"style of another site", `<link rel="stylesheet" href="https://example.com/s.css">`, "would be loaded from elsewhere"},
		{"canonical address", `<link rel="canonical" href="https://example.com/">`, ""},
		{"address from the root", `<a href="/a/">`, "is not relative"},
		{"address out of the site", `<a href="../a/">`, "leaves the site"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{"index.html": c.html, "a/index.html": `<p id="here">`, "a/p.svg": "<svg/>"} {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			err := checkLinks(dir)
			switch {
			case c.want == "" && err != nil:
				t.Errorf("got %v, want accepted", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
