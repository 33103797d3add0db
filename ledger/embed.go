package ledger

import (
	"embed"
	"io/fs"
)

//go:embed data
var data embed.FS

// Embedded returns the ledger compiled into this build, for Open.
func Embedded() fs.FS {
	sub, err := fs.Sub(data, "data")
	if err != nil {
		return data // unreachable: "data" is a valid path
	}
	return sub
}
