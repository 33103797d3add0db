package main

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inference-sim/accuracy-dashboard/internal/exit"
)

func TestServeAnswersThisMachineAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "index.html"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "127.0.0.1", ""} {
		if code, _, errs := score(t, "serve", dir, "--addr", addr); code != exit.Usage || !strings.Contains(errs, "is no address of this machine alone") {
			t.Errorf("%q: exit %d, %s, want a usage error", addr, code, errs)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop() // served, then at once ended
	var out, errs bytes.Buffer
	if code := exit.Run(ctx, root(), []string{"serve", dir, "--addr", "127.0.0.1:0"}, &out, &errs); code != exit.Done || !strings.Contains(out.String(), "http://127.0.0.1:") {
		t.Errorf("exit %d, %s%s", code, out.String(), errs.String())
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if code, _, errs := score(t, "serve", dir, "--addr", taken.Addr().String()); code != exit.Refused || !strings.Contains(errs, "in use") {
		t.Errorf("a port in use: exit %d, %s", code, errs)
	}
}

// An address that leads nowhere gets the site's own page, with its status; no directory is listed.
func TestServeAnswersAsAHostDoes(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, fstest.MapFS{"index.html": {Data: []byte("home")}, "404.html": {Data: []byte("lost")}, "lanes/index.html": {Data: []byte("lanes")}, "data/a.json": {Data: []byte("{}")}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, want, kind string
		status           int
	}{
		{"/", "home", "text/html; charset=utf-8", http.StatusOK},
		{"/lanes/", "lanes", "text/html; charset=utf-8", http.StatusOK},
		{"/data/a.json", "{}", "application/json", http.StatusOK},
		{"/lanes", "", "", http.StatusMovedPermanently},
		{"/data/", "lost", "text/html; charset=utf-8", http.StatusNotFound},
		{"/nope/deep?a=b", "lost", "text/html; charset=utf-8", http.StatusNotFound},
		{"/../serve_test.go", "lost", "text/html; charset=utf-8", http.StatusNotFound},
	} {
		w := httptest.NewRecorder()
		host(dir).ServeHTTP(w, httptest.NewRequest(http.MethodGet, c.path, nil))
		if w.Code != c.status || w.Body.String() != c.want || w.Header().Get("Content-Type") != c.kind {
			t.Errorf("%s: got %d, %q, %q, want %d, %q, %q", c.path, w.Code, w.Header().Get("Content-Type"), w.Body, c.status, c.kind, c.want)
		}
	}
	w := httptest.NewRecorder()
	host(t.TempDir()).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/nope", nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("no page of its own: got %d, want 404", w.Code)
	}
}
