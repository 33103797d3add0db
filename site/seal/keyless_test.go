package seal

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bundlepb "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	commonpb "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	dssepb "github.com/sigstore/protobuf-specs/gen/pb-go/dsse"
	rekorpb "github.com/sigstore/protobuf-specs/gen/pb-go/rekor/v1"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/testing/ca"
	"github.com/sigstore/sigstore-go/pkg/tlog"
	"google.golang.org/protobuf/encoding/protojson"
)

// What the workflow's certificate names, as the page on verifying has it.
const (
	workflow = "https://github.com/inference-sim/accuracy-dashboard/.github/workflows/nightly.yml@refs/heads/main"
	issuer   = "https://token.actions.githubusercontent.com"
)

// about is the statement that the workflow makes of a manifest.
func about(manifest []byte) statement {
	sum := sha256.Sum256(manifest)
	return statement{Type: statementType, PredicateType: PredicateType, Predicate: Predicate{Trust: "keyless"},
		Subject: []subject{{ManifestName, map[string]string{"sha256": hex.EncodeToString(sum[:])}}}}
}

// keyless signs s as a workflow does, with a certificate, a log and a time stamp of services made
// for the test; trust is the root that vouches for them.
func keyless(t *testing.T, s statement, identity string) (bundle, trust string) {
	t.Helper()
	services, err := ca.NewVirtualSigstore()
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := services.AttestAtTime(identity, issuer, payload, time.Now().Add(time.Minute), true)
	if err != nil {
		t.Fatal(err)
	}
	return entity(t, services, signed), rootOf(t, services)
}

// entity is a signed statement as a bundle.
func entity(t *testing.T, services *ca.VirtualSigstore, signed *ca.TestEntity) string {
	t.Helper()
	verification, err := signed.VerificationContent()
	if err != nil {
		t.Fatal(err)
	}
	content, err := signed.SignatureContent()
	if err != nil {
		t.Fatal(err)
	}
	logged, err := signed.TlogEntries()
	if err != nil {
		t.Fatal(err)
	}
	stamps, err := signed.Timestamps()
	if err != nil {
		t.Fatal(err)
	}
	raw := content.EnvelopeContent().RawEnvelope()
	payload, err := raw.DecodeB64Payload()
	if err != nil {
		t.Fatal(err)
	}
	material := &bundlepb.VerificationMaterial{Content: &bundlepb.VerificationMaterial_Certificate{
		Certificate: &commonpb.X509Certificate{RawBytes: verification.Certificate().Raw}}, TimestampVerificationData: &bundlepb.TimestampVerificationData{}}
	for _, e := range logged {
		entry := e.TransparencyLogEntry()
		promise, err := services.RekorSignPayload(tlog.RekorPayload{Body: base64.StdEncoding.EncodeToString(entry.CanonicalizedBody),
			IntegratedTime: entry.IntegratedTime, LogIndex: entry.LogIndex, LogID: hex.EncodeToString(entry.LogId.KeyId)})
		if err != nil {
			t.Fatal(err)
		}
		entry.KindVersion = &rekorpb.KindVersion{Kind: "dsse", Version: "0.0.1"}
		entry.InclusionPromise = &rekorpb.InclusionPromise{SignedEntryTimestamp: promise}
		material.TlogEntries = append(material.TlogEntries, entry)
	}
	for _, stamp := range stamps {
		material.TimestampVerificationData.Rfc3161Timestamps = append(material.TimestampVerificationData.Rfc3161Timestamps, &commonpb.RFC3161SignedTimestamp{SignedTimestamp: stamp})
	}
	text, err := protojson.Marshal(&bundlepb.Bundle{MediaType: "application/vnd.dev.sigstore.bundle.v0.3+json", VerificationMaterial: material,
		Content: &bundlepb.Bundle_DsseEnvelope{DsseEnvelope: &dssepb.Envelope{Payload: payload, PayloadType: PayloadType,
			Signatures: []*dssepb.Signature{{Sig: content.Signature()}}}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func rootOf(t *testing.T, services *ca.VirtualSigstore) string {
	t.Helper()
	logs := services.RekorLogs()
	for id, log := range logs {
		raw, err := hex.DecodeString(id)
		if err != nil {
			t.Fatal(err)
		}
		log.ID = raw
	}
	trusted, err := root.NewTrustedRoot(root.TrustedRootMediaType01, services.FulcioCertificateAuthorities(), nil, services.TimestampingAuthorities(), logs)
	if err != nil {
		t.Fatal(err)
	}
	text, err := trusted.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAKeylessBundleIsAboutThisManifest: the nightly workflow verifies the site again with the
// bundle in it, and publishes none that is about something else.
func TestAKeylessBundleIsAboutThisManifest(t *testing.T) {
	dir, key := newSite(t)
	manifest, err := os.ReadFile(filepath.Join(dir, ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile(filepath.Join(dir, BundleName))
	if err != nil {
		t.Fatal(err)
	}
	signed := func(change func(*statement)) string {
		s := about(manifest)
		change(&s)
		b, _ := keyless(t, s, workflow)
		return b
	}
	for name, c := range map[string]struct{ bundle, want string }{
		"about it":         {signed(func(*statement) {}), ""},
		"another manifest": {signed(func(s *statement) { *s = about([]byte("other")) }), "is about another SHA256SUMS"},
		"another file":     {signed(func(s *statement) { s.Subject[0].Name = "index.html" }), "is not about SHA256SUMS alone"},
		"another claim":    {signed(func(s *statement) { s.PredicateType = "https://slsa.dev/provenance/v1" }), "is a statement of type"},
		"a stored key's":   {string(own), "names no identity"},
		"no bundle":        {"{}", "is no sigstore bundle"},
	} {
		write(t, dir, KeylessName, c.bundle)
		_, err := Verify(dir, &key.private.PublicKey)
		got, differs := errors.AsType[*DifferenceError](err)
		if (c.want == "") != (err == nil) || c.want != "" && (!differs || got.Path != KeylessName || !strings.Contains(got.What, c.want)) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	write(t, dir, KeylessName, signed(func(*statement) {}))
	write(t, dir, "points/"+KeylessName, "{}")
	if _, err := Verify(dir, nil); err == nil {
		t.Error("elsewhere: accepted, want a difference")
	}
}
