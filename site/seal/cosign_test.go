package seal

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// cosignModule is built as its authors publish it; nothing of it is in this module.
const cosignModule = "github.com/sigstore/cosign/v3/cmd/cosign@v3.0.4"

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
	pem, err := key.GetPublicKeyPem()
	if err != nil {
		t.Fatal(err)
	}
	write(t, bin, "key.pub", pem)
	verify := func() (string, error) { // the command of the site's page on verifying
		c := exec.Command(filepath.Join(bin, "cosign"), "verify-blob-attestation", "--key", filepath.Join(bin, "key.pub"), "--bundle", BundleName,
			"--type", PredicateType, "--insecure-ignore-tlog", ManifestName)
		c.Dir = dir
		out, err := c.CombinedOutput()
		return string(out), err
	}
	if out, err := verify(); err != nil {
		t.Errorf("got %v, want accepted: %s", err, out)
	}
	edit(t, dir, ManifestName, "index.html", "indez.html")
	if out, err := verify(); err == nil || !strings.Contains(out, "digest") {
		t.Errorf("changed manifest: got %v, want refused for its digest: %s", err, out)
	}
}
