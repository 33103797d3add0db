package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
