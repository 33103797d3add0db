package strict

// Direct and ByTheBook are the two ways that YAML reads a document.
var (
	Direct    = direct
	ByTheBook = byTheBook
)
