package site

import (
	"cmp"
	"errors"
	"fmt"
	"html"

	"github.com/inference-sim/accuracy-dashboard/scorer/record"
)

// host writes what a web host and its crawlers look for at the root: the page of an address that
// leads nowhere, which is shown at any depth and so links by full address, robots.txt, and how to
// cite this build.
func (s *source) host(home string, b record.Build) error {
	home = cmp.Or(home, Home)
	return errors.Join(
		s.File("404.html", fmt.Appendf(nil, `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'"><meta name="color-scheme" content="light dark"><title>No such page · BLIS accuracy</title></head>
<body><main><h1>No such page</h1>
<p>Pages of points that left the data are not kept. Start from <a href="%[1]s">the overview</a>, or find a point among <a href="%[1]spoints/">all of them</a>.</p></main></body></html>
`, html.EscapeString(home))),
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
