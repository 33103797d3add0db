package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
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

// serve answers until ctx ends, which is how it is meant to end.
func serve(ctx context.Context, l net.Listener, dir string) error {
	s := &http.Server{Handler: http.FileServer(http.Dir(dir)), ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
