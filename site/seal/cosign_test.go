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

// TestThePageOnVerifyingSaysWhatIsTried: the version, and what the two commands ask for.
func TestThePageOnVerifyingSaysWhatIsTried(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "content", "verify.md"))
	if err != nil {
		t.Fatal(err)
	}
	if _, version, _ := strings.Cut(cosignModule, "@"); !strings.Contains(string(page), "tried with "+version+")") {
		t.Errorf("the page does not say that cosign %s was tried", version)
	}
	commands := published(t)
	if len(commands) != 2 {
		t.Fatalf("got %d commands, want two", len(commands))
	}
	for i, want := range [][]string{{BundleName, ManifestName, PredicateType, "KEY.pub"}, {KeylessName, ManifestName, PredicateType, workflow, issuer}} {
		for _, w := range want {
			if !strings.Contains(commands[i], w) {
				t.Errorf("got %q, want %q in it", commands[i], w)
			}
		}
	}
}

// cosign builds cosign and gives a way to run a command of the page below dir, offline: a proxy that
// is not there answers no request.
func cosign(t *testing.T) func(dir, command string) (string, error) {
	t.Helper()
	if os.Getenv("BLIS_NIGHTLY") == "" {
		t.Skip("runs with BLIS_NIGHTLY=1: building cosign takes minutes")
	}
	bin := t.TempDir()
	build := exec.Command("go", "install", cosignModule)
	build.Dir, build.Env = bin, append(os.Environ(), "GOBIN="+bin, "GOFLAGS=-mod=mod")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build cosign: %v\n%s", err, out)
	}
	return func(dir, command string) (string, error) {
		c := exec.Command("sh", "-ec", command)
		c.Dir, c.Env = dir, append(os.Environ(), "PATH="+bin, "HTTPS_PROXY=http://127.0.0.1:1", "HOME="+bin)
		out, err := c.CombinedOutput()
		return string(out), err
	}
}

func TestCosignAcceptsTheAttestationAndRefusesAChangedManifest(t *testing.T) {
	run := cosign(t)
	dir, key := newSite(t)
	signer, err := key.GetPublicKeyPem()
	if err != nil {
		t.Fatal(err)
	}
	_, stranger := newSite(t)
	other, err := stranger.GetPublicKeyPem()
	if err != nil {
		t.Fatal(err)
	}
	ask := func(name, pem, want string) {
		t.Helper()
		write(t, dir, "KEY.pub", pem)
		if out, err := run(dir, published(t)[0]); (err == nil) != (want == "") || !strings.Contains(out, want) {
			t.Errorf("%s: got %v, want %q: %s", name, err, want, out)
		}
	}
	ask("as sealed", signer, "")
	ask("another key", other, "signature")
	edit(t, dir, ManifestName, "index.html", "indez.html")
	ask("a changed manifest", signer, "digest")
}

// TestCosignAcceptsAKeylessAttestation runs the page's second command on what a workflow's identity
// would have signed, under a root of trust made for the test; its certificate is in no public log.
func TestCosignAcceptsAKeylessAttestation(t *testing.T) {
	run := cosign(t)
	dir, _ := newSite(t)
	manifest, err := os.ReadFile(filepath.Join(dir, ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(name, identity, want string) {
		t.Helper()
		bundle, trust := keyless(t, about(manifest), identity)
		write(t, dir, KeylessName, bundle)
		write(t, dir, "root.json", trust)
		if out, err := run(dir, strings.TrimSpace(published(t)[1])+" --trusted-root root.json --insecure-ignore-sct"); (err == nil) != (want == "") || !strings.Contains(out, want) {
			t.Errorf("%s: got %v, want %q: %s", name, err, want, out)
		}
	}
	ask("the workflow's", workflow, "")
	ask("another identity", strings.Replace(workflow, "main", "fork", 1), "identit")
	edit(t, dir, ManifestName, "index.html", "indez.html")
	ask("a changed manifest", workflow, "digest")
}
