package ledger

import (
	"embed"
	"io/fs"
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

// Embedded opens the ledger of this build.
func Embedded() (*Ledger, error) { return Open(EmbeddedFS()) }
