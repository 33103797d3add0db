// Package content holds the pages of the site, as Markdown with front matter: those people write,
// and apart from them those rendered from what owns each fact.
//
// Links to pages of the site start with "/", links to rules are inv:ID; the build refuses either
// when it is broken. Generated pages and their data files are written by `blis docs` alone (X7).
package content

import "embed"

// FS is the pages people wrote.
//
//go:embed *.md all:contributing
var FS embed.FS

// Reference is the generated pages and the files beside them, below generated/.
//
//go:embed generated
var Reference embed.FS
