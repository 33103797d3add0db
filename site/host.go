package site

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"html"

	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// host writes what a web host and its crawlers look for at the root: the page of an address that
// leads nowhere, robots.txt, and how to cite this build.
func (s *source) host(home string, b record.Build) error {
	home = cmp.Or(home, Home)
	return errors.Join(
		s.File("404.html", notFound(home)),
		s.File("robots.txt", fmt.Appendf(nil, "User-agent: *\nAllow: /\nSitemap: %ssitemap.xml\n", home)),
		s.File("CITATION.cff", fmt.Appendf(nil, `cff-version: 1.2.0
message: Unit ids name single points.
title: BLIS accuracy
type: dataset
version: %q
commit: %q
license: Apache-2.0
authors:
  - name: The inference-sim authors
url: %q
repository-code: https://github.com/inference-sim/accuracy-dashboard
`, b.Release, b.Commit, home)))
}

// lostStyle is the style of the page of an address that leads nowhere. Its policy names it by hash.
const lostStyle = `:root{color-scheme:light dark;--ground:#fbfaf7;--ink:#1b2129;--accent:#0b5394}
@media (prefers-color-scheme:dark){:root{--ground:#12151b;--ink:#e7eaf0;--accent:#84bdf7}}
body{margin:0 auto;max-width:40rem;padding:12vh 1.5rem 2rem;background:var(--ground);color:var(--ink);font:1.1rem/1.55 system-ui,sans-serif}
h1{font-family:Charter,Georgia,serif;font-size:2.2rem;margin:0 0 1rem}a{color:var(--accent)}`

// notFound is shown at any depth, and so carries its style and links by full address.
func notFound(home string) []byte {
	hash := sha256.Sum256([]byte(lostStyle))
	link := func(path, text string) string {
		return `<a href="` + html.EscapeString(home+path) + `">` + text + "</a>"
	}
	return fmt.Appendf(nil, `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-%s'"><meta name="robots" content="noindex">
<title>No such page · BLIS accuracy</title><style>%s</style></head>
<body><main><h1>No such page</h1>
<p>The address may have been mistyped, or it named a point that left the data: their pages are not kept.</p>
<ul><li>%s</li><li>%s, to filter and search</li><li>%s, with the scores of releases before</li></ul></main></body></html>
`, base64.StdEncoding.EncodeToString(hash[:]), lostStyle, link("", "The overview"), link("points/", "All points"), link("releases/", "The releases"))
}
