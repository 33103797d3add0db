// Package content holds the pages people write, as Markdown with front matter. Links to pages of
// the site start with "/", links to rules are inv:ID; the build refuses either when it is broken.
// Generated pages are no part of it.
package content

import "embed"

//go:embed *.md */*.md
var FS embed.FS
