package seal

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// cosignModule is built as its authors publish it; nothing of it is in this module.
const cosignModule = "github.com/sigstore/cosign/v3/cmd/cosign@v3.0.4"

// published are the cosign commands of the site's page on verifying, in its order.
func published(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "content", "verify.md"))
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for _, m := range regexp.MustCompile("(?s)```\n(cosign .*?)```").FindAllSubmatch(page, -1) {
		commands = append(commands, string(m[1]))
	}
	return commands
}

func TestCosignAcceptsTheAttestationAndRefusesAChangedManifest(t *testing.T) {
	if os.Getenv("BLIS_NIGHTLY") == "" {
		t.Skip("runs with BLIS_NIGHTLY=1: building cosign takes minutes")
	}
	bin := t.TempDir()
	build := exec.Command("go", "install", cosignModule)
	build.Dir, build.Env = bin, append(os.Environ(), "GOBIN="+bin, "GOFLAGS=-mod=mod")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build cosign: %v\n%s", err, out)
	}
	dir, key := newSite(t)
	signer, err := key.GetPublicKeyPem()
	if err != nil {
		t.Fatal(err)
	}
	verify := func() (string, error) { // offline: a proxy that is not there answers no request
		c := exec.Command("sh", "-ec", published(t)[0])
		c.Dir, c.Env = dir, append(os.Environ(), "PATH="+bin, "HTTPS_PROXY=http://127.0.0.1:1", "HOME="+bin)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	write(t, dir, "KEY.pub", signer)
	if out, err := verify(); err != nil {
		t.Errorf("got %v, want accepted: %s", err, out)
	}
	_, stranger := newSite(t)
	other, err := stranger.GetPublicKeyPem()
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "KEY.pub", other)
	if out, err := verify(); err == nil || !strings.Contains(out, "signature") {
		t.Errorf("another key: got %v, want refused for its signature: %s", err, out)
	}
	write(t, dir, "KEY.pub", signer)
	edit(t, dir, ManifestName, "index.html", "indez.html")
	if out, err := verify(); err == nil || !strings.Contains(out, "digest") {
		t.Errorf("a changed manifest: got %v, want refused for its digest: %s", err, out)
	}
}
