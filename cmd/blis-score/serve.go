package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"time"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/spf13/cobra"
)

func serveCmd() *cobra.Command {
	var addr string
	c := &cobra.Command{
		Use:   "serve [DIR]",
		Short: "show a site in the browser, from this machine alone",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir := "public"
			if len(args) == 1 {
				dir = args[0]
			}
			if _, err := os.Stat(filepath.Join(dir, "index.html")); err != nil {
				return &diag.Refusal{Field: "DIR", Value: dir, Problem: "holds no site", Accept: "a directory this command made; run it without arguments to make one"}
			}
			at, err := net.ResolveTCPAddr("tcp", addr)
			if err != nil || !at.IP.IsLoopback() {
				return unusable("--addr", addr, "is no address of this machine alone", "localhost, 127.0.0.1 or [::1] and a port, e.g. 127.0.0.1:8080")
			}
			listener, err := net.ListenTCP("tcp", at)
			if err != nil {
				return &diag.Refusal{Field: "--addr", Value: addr, Problem: err.Error(), Accept: "a free address, e.g. 127.0.0.1:0"}
			}
			fmt.Fprintf(c.OutOrStdout(), "http://%s/  (stop with Ctrl-C)\n", listener.Addr())
			return serve(c.Context(), listener, dir)
		},
	}
	c.Flags().StringVar(&addr, "addr", "127.0.0.1:8080", "loopback address to listen on; any other is refused")
	return c
}

// host answers as a web host does: a directory is its index.html and is never listed, and what is
// not there is the site's own 404.html, with that status.
func host(dir string) http.Handler {
	files := http.FileServer(http.Dir(dir))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if shown(http.Dir(dir), path.Clean("/"+r.URL.Path)) {
			files.ServeHTTP(w, r)
			return
		}
		page, err := os.ReadFile(filepath.Join(dir, "404.html"))
		if err != nil { // records alone have none
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Length", strconv.Itoa(len(page)))
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write(page) // a reader who has left is not told
	})
}

// shown is whether the path is a file, or a directory with a page.
func shown(root http.Dir, name string) bool {
	f, err := root.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	return err == nil && (!info.IsDir() || shown(root, path.Join(name, "index.html")))
}

// serve answers until ctx ends, which is how it is meant to end.
func serve(ctx context.Context, l net.Listener, dir string) error {
	s := &http.Server{Handler: host(dir), ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
