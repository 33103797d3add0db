package ledger

import (
	"embed"
	"io/fs"
	"sync"
)

//go:embed data
var data embed.FS

// EmbeddedFS is the ledger directory of this build.
func EmbeddedFS() fs.FS {
	sub, err := fs.Sub(data, "data")
	if err != nil {
		return data // unreachable: "data" is a valid path
	}
	return sub
}

// Embedded opens EmbeddedFS. The Ledger is shared: it never changes.
var Embedded = sync.OnceValues(func() (*Ledger, error) { return Open(EmbeddedFS()) })
