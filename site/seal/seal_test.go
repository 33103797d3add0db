package seal

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/internal/need"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// newSite returns a sealed site of three files and the key that signed it.
func newSite(t *testing.T) (dir string, key *Key) {
	t.Helper()
	dir = t.TempDir()
	write(t, dir, "index.html", "<p>home</p>")
	write(t, dir, "points/a/index.html", "<p>a</p>")
	write(t, dir, "points-b.html", "<p>b</p>")
	key, err := EphemeralKey()
	if err != nil {
		t.Fatal(err)
	}
	if err := Seal(context.Background(), dir, key, Predicate{Release: "v1.2.3", Trust: "signed"}); err != nil {
		t.Fatal(err)
	}
	return dir, key
}

func TestVerifyAcceptsWhatSealWrote(t *testing.T) {
	dir, key := newSite(t)
	for name, public := range map[string]*ecdsa.PublicKey{"own key": nil, "given key": &key.private.PublicKey} {
		about, err := Verify(dir, public)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if want := (Predicate{Release: "v1.2.3", Trust: "signed", Files: 3}); about != want {
			t.Errorf("%s: got %+v, want %+v", name, about, want)
		}
	}
}

// A link to a site is that site.
func TestVerifyFollowsALinkToTheSite(t *testing.T) {
	dir, _ := newSite(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if about, err := Verify(link, nil); err != nil || about.Files != 3 {
		t.Errorf("got %+v, %v, want the site's 3 files accepted", about, err)
	}
	write(t, dir, "added.html", "")
	_, err := Verify(link, nil)
	if got, ok := errors.AsType[*DifferenceError](err); !ok || got.Path != "added.html" {
		t.Errorf("got %v, want added.html named", err)
	}
}

func TestManifestIsSortedByPathAsBytes(t *testing.T) {
	dir, _ := newSite(t)
	data, err := os.ReadFile(filepath.Join(dir, ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(data)) {
		got = append(got, strings.Fields(line)[1])
	}
	want := []string{"index.html", "points-b.html", "points/a/index.html"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestVerifyNamesTheFirstDifference(t *testing.T) {
	keep.Rule(t, "COV-8")
	cases := []struct {
		name  string
		spoil func(t *testing.T, dir string)
		path  string
		what  string
	}{
		{"changed page", func(t *testing.T, dir string) { write(t, dir, "points/a/index.html", "<p>A</p>") }, "points/a/index.html", "changed"},
		{"removed page", func(t *testing.T, dir string) { remove(t, dir, "points-b.html") }, "points-b.html", "removed"},
		{"added page", func(t *testing.T, dir string) { write(t, dir, "points/b/index.html", "") }, "points/b/index.html", "added"},
		{"added first", func(t *testing.T, dir string) { write(t, dir, "a.html", "") }, "a.html", "added"},
		{"added hidden file", func(t *testing.T, dir string) { write(t, dir, ".hidden", "") }, ".hidden", "added"},
		{"added empty directory", func(t *testing.T, dir string) {
			if err := os.MkdirAll(filepath.Join(dir, "points", "c", "d"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, "points/c/d", "added: an empty directory"},
		{"removed page alone in its directory", func(t *testing.T, dir string) { remove(t, dir, "points/a/index.html") }, "points/a/index.html", "removed"},
		{"renamed page", func(t *testing.T, dir string) {
			rename(t, dir, "index.html", "zzz.html")
		}, "index.html", "removed"},
		{"symbolic link", func(t *testing.T, dir string) {
			remove(t, dir, "index.html")
			write(t, dir, "../elsewhere.html", "<p>home</p>")
			if err := os.Symlink("../elsewhere.html", filepath.Join(dir, "index.html")); err != nil {
				t.Fatal(err)
			}
		}, "index.html", "symbolic link"},
		{"changed manifest", func(t *testing.T, dir string) {
			edit(t, dir, ManifestName, "index.html", "indez.html")
		}, ManifestName, "changed"},
		{"removed manifest", func(t *testing.T, dir string) { remove(t, dir, ManifestName) }, ManifestName, "removed"},
		{"removed bundle", func(t *testing.T, dir string) { remove(t, dir, BundleName) }, BundleName, "removed"},
		{"removed key", func(t *testing.T, dir string) { remove(t, dir, KeyName) }, KeyName, "removed"},
		{"a line more beside the key", func(t *testing.T, dir string) {
			pem, err := os.ReadFile(filepath.Join(dir, KeyName))
			if err != nil {
				t.Fatal(err)
			}
			write(t, dir, KeyName, string(pem)+"junk\n")
		}, KeyName, "more than the key"},
		{"damaged bundle", func(t *testing.T, dir string) { write(t, dir, BundleName, "{}") }, BundleName, ""},
		{"another key's hint in the bundle", otherHint, BundleName, "its hint names the key"},
		{"other site's bundle", func(t *testing.T, dir string) {
			other, _ := newSite(t)
			replaceFile(t, filepath.Join(other, BundleName), filepath.Join(dir, BundleName))
		}, BundleName, "signature"},
		{"other key beside it", func(t *testing.T, dir string) {
			other, _ := newSite(t)
			replaceFile(t, filepath.Join(other, KeyName), filepath.Join(dir, KeyName))
		}, BundleName, "signature"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir, _ := newSite(t)
			c.spoil(t, dir)
			_, err := Verify(dir, nil)
			got, ok := errors.AsType[*DifferenceError](err)
			if !ok {
				t.Fatalf("got %v, want a difference", err)
			}
			if got.Path != c.path || !strings.Contains(got.What, c.what) {
				t.Errorf("got %q %q, want %q %q", got.Path, got.What, c.path, c.what)
			}
		})
	}
}

// otherHint makes the bundle's hint, which is not signed, that of another key.
func otherHint(t *testing.T, dir string) {
	own, err := ReadPublicKey(filepath.Join(dir, KeyName))
	if err != nil {
		t.Fatal(err)
	}
	hint, err := hintOf(own)
	if err != nil {
		t.Fatal(err)
	}
	other, err := EphemeralKey()
	if err != nil {
		t.Fatal(err)
	}
	edit(t, dir, BundleName, hint, string(other.GetHint()))
}

func TestVerifySaysWhatWasNeverSealed(t *testing.T) {
	open := t.TempDir()
	write(t, open, "data/points.json", "[]")
	for _, c := range []struct{ dir, want string }{
		{filepath.Join(open, "nope"), "no such directory"},
		{filepath.Join(open, "data", "points.json"), "is not a directory"},
		{open, "is not a sealed site: has no SHA256SUMS"},
	} {
		_, err := Verify(c.dir, nil)
		if got, ok := errors.AsType[*NotSealedError](err); !ok || got.What != c.want {
			t.Errorf("%s: got %v, want %q", c.dir, err, c.want)
		}
	}
}

func TestVerifyRefusesAnotherKeysSignature(t *testing.T) {
	dir, _ := newSite(t)
	other, err := EphemeralKey()
	if err != nil {
		t.Fatal(err)
	}
	_, err = Verify(dir, &other.private.PublicKey)
	if got, ok := errors.AsType[*DifferenceError](err); !ok || got.Path != BundleName {
		t.Errorf("got %v, want a difference in %s", err, BundleName)
	}
}

func TestParseRefusesLinesThatLeaveTheSite(t *testing.T) {
	sum := strings.Repeat("0", 64)
	cases := []struct {
		text string
		ok   bool
	}{
		{sum + "  a/b\n", true},
		{sum + "  a\n" + sum + "  b\n", true},
		{sum + "  b\n" + sum + "  a\n", false},
		{sum + "  a\n" + sum + "  a\n", false},
		{sum + "  ../a\n", false},
		{sum + "  /a\n", false},
		{sum + " a\n", false},
		{sum[1:] + "  a\n", false},
		{sum + "  " + BundleName + "\n", false},
	}
	for _, c := range cases {
		if _, err := parse([]byte(c.text)); (err == nil) != c.ok {
			t.Errorf("%q: got %v, want accepted = %v", c.text, err, c.ok)
		}
	}
}

func TestReadKeyTakesP256Only(t *testing.T) {
	cases := []struct {
		curve elliptic.Curve
		ok    bool
	}{{elliptic.P256(), true}, {elliptic.P384(), false}}
	for _, c := range cases {
		private, err := ecdsa.GenerateKey(c.curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		der, err := x509.MarshalPKCS8PrivateKey(private)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		write(t, dir, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
		if _, err := ReadKey(filepath.Join(dir, "key.pem")); (err == nil) != c.ok {
			t.Errorf("%s: got %v, want accepted = %v", c.curve.Params().Name, err, c.ok)
		}
	}
}

// Clients that share no code with this package reach the same answers.

func TestSha256sumChecksTheManifest(t *testing.T) {
	tool := need.Tool(t, "sha256sum", "part of coreutils")
	dir, _ := newSite(t)
	if out, err := check(tool, dir); err != nil {
		t.Fatalf("got %v, want accepted: %s", err, out)
	}
	write(t, dir, "points/a/index.html", "<p>A</p>")
	out, err := check(tool, dir)
	if err == nil || !strings.Contains(out, "points/a/index.html: FAILED") {
		t.Errorf("got %v, want the changed page named: %s", err, out)
	}
}

func check(tool, dir string) (string, error) {
	c := exec.Command(tool, "--quiet", "--strict", "-c", ManifestName)
	c.Dir = dir
	out, err := c.CombinedOutput()
	return string(out), err
}

func TestOpensslVerifiesTheEnvelope(t *testing.T) {
	tool := need.Tool(t, "openssl", "apt-get install openssl")
	dir, _ := newSite(t)
	data, err := os.ReadFile(filepath.Join(dir, BundleName))
	if err != nil {
		t.Fatal(err)
	}
	var b struct {
		DSSEEnvelope struct {
			Payload     []byte `json:"payload"`
			PayloadType string `json:"payloadType"`
			Signatures  []struct {
				Sig string `json:"sig"`
			} `json:"signatures"`
		} `json:"dsseEnvelope"`
	}
	if err := json.Unmarshal(data, &b); err != nil {
		t.Fatal(err)
	}
	sig, err := base64.StdEncoding.DecodeString(b.DSSEEnvelope.Signatures[0].Sig)
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	verify := func(payload []byte) error {
		// DSSE v1 pre-authentication encoding.
		pae := fmt.Sprintf("DSSEv1 %d %s %d %s", len(b.DSSEEnvelope.PayloadType), b.DSSEEnvelope.PayloadType, len(payload), payload)
		write(t, work, "pae", pae)
		write(t, work, "sig", string(sig))
		return exec.Command(tool, "dgst", "-sha256", "-verify", filepath.Join(dir, KeyName),
			"-signature", filepath.Join(work, "sig"), filepath.Join(work, "pae")).Run()
	}
	if err := verify(b.DSSEEnvelope.Payload); err != nil {
		t.Errorf("got %v, want accepted", err)
	}
	b.DSSEEnvelope.Payload[len(b.DSSEEnvelope.Payload)-3] ^= 1
	if err := verify(b.DSSEEnvelope.Payload); err == nil {
		t.Error("got accepted, want a changed payload refused")
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, dir, from, to string) {
	t.Helper()
	replaceFile(t, filepath.Join(dir, from), filepath.Join(dir, to))
}

func replaceFile(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func edit(t *testing.T, dir, name, from, to string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, name, strings.Replace(string(data), from, to, 1))
}
