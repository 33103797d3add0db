package catalog

import (
	"embed"
	"io/fs"
	"sync"
)

//go:embed data/hardware/*.yaml data/models/*/graph.yaml data/models/*/model.yaml data/networks/*.yaml data/routers/*.yaml data/sources/*.yaml
var embedded embed.FS

// EmbeddedFS is the data compiled into the program, rooted as Open expects.
func EmbeddedFS() fs.FS {
	sub, err := fs.Sub(embedded, "data")
	if err != nil {
		return embedded // unreachable: "data" is a valid path
	}
	return sub
}

// Embedded opens EmbeddedFS. The Catalog is shared: it never changes.
var Embedded = sync.OnceValues(func() (*Catalog, error) { return Open(EmbeddedFS()) })
