package seal

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
	"google.golang.org/protobuf/encoding/protojson"
)

// Verify checks a sealed site from disk: the bundle's signature over the statement, the
// statement's digest of the manifest, and the manifest against the files, both ways.
//
// With a key the signature must be that key's. With a nil key the site's own site.pub is used:
// that proves integrity, not origin, and the caller must say so. The first thing that differs
// comes back as a *DifferenceError, what was never sealed as a *NotSealedError; any other error
// means the question could not be answered.
func Verify(dir string, key *ecdsa.PublicKey) (Predicate, error) {
	if err := sealed(dir); err != nil {
		return Predicate{}, err
	}
	dir, err := filepath.EvalSymlinks(dir) // a link to a site is that site; one inside it is a difference
	if err != nil {
		return Predicate{}, err
	}
	manifest, err := read(dir, ManifestName)
	if err != nil {
		return Predicate{}, err
	}
	signed, err := read(dir, BundleName)
	if err != nil {
		return Predicate{}, err
	}
	pem, err := read(dir, KeyName)
	if err != nil {
		return Predicate{}, err
	}
	own, err := parsePublicKey(KeyName, pem)
	if err != nil {
		return Predicate{}, &DifferenceError{KeyName, err.Error()}
	}
	if alone, err := cryptoutils.MarshalPublicKeyToPEM(own); err != nil || !bytes.Equal(pem, alone) {
		return Predicate{}, &DifferenceError{KeyName, "changed: it holds more than the key"}
	}
	if key == nil {
		key = own
	}
	about, err := verifyBundle(signed, manifest, key)
	if err != nil {
		return Predicate{}, err
	}
	if err := aboutManifest(dir, manifest); err != nil {
		return about, err
	}
	stated, err := parse(manifest)
	if err != nil {
		return about, err
	}
	if about.Files != len(stated) {
		return about, &DifferenceError{ManifestName, fmt.Sprintf("lists %d files, the signed statement says %d", len(stated), about.Files)}
	}
	found, err := list(dir)
	if err != nil {
		return about, err
	}
	if err := compare(stated, found); err != nil {
		return about, err
	}
	if err := noneEmpty(dir); err != nil {
		return about, err
	}
	if !own.Equal(key) {
		return about, &DifferenceError{KeyName, "changed: it is not the key the site was verified with"}
	}
	return about, nil
}

func verifyBundle(signed, manifest []byte, key *ecdsa.PublicKey) (Predicate, error) {
	differs := func(name string, err error) (Predicate, error) {
		return Predicate{}, &DifferenceError{name, err.Error()}
	}
	var b bundle.Bundle
	if err := b.UnmarshalJSON(signed); err != nil {
		return differs(BundleName, fmt.Errorf("changed or cut short: %w", err))
	}
	trusted, err := trust(key)
	if err != nil {
		return Predicate{}, err
	}
	verifier, err := verify.NewVerifier(trusted, verify.WithNoObserverTimestamps())
	if err != nil {
		return Predicate{}, err
	}
	// The two policies are asked one after the other so that the answer names the right file:
	// the signature belongs to the bundle, the digest to the manifest.
	if _, err := verifier.Verify(&b, verify.NewPolicy(verify.WithoutArtifactUnsafe(), verify.WithKey())); err != nil {
		return differs(BundleName, fmt.Errorf("signature: it is by another key, or this file or %s changed: %w", KeyName, err))
	}
	// The hint is not signed: it names the key that verified, or the bundle is not as it was made.
	hint, err := hintOf(key)
	if err != nil {
		return Predicate{}, err
	}
	if got := b.GetVerificationMaterial().GetPublicKey().GetHint(); got != hint {
		return differs(BundleName, fmt.Errorf("changed: its hint names the key %q, and %q verified it", got, hint))
	}
	result, err := verifier.Verify(&b, verify.NewPolicy(verify.WithArtifact(bytes.NewReader(manifest)), verify.WithKey()))
	if err != nil {
		return differs(ManifestName, fmt.Errorf("changed: %w", err))
	}
	raw, err := protojson.Marshal(result.Statement)
	if err != nil {
		return Predicate{}, err
	}
	var s statement
	if err := json.Unmarshal(raw, &s); err != nil {
		return differs(BundleName, err)
	}
	if s.PredicateType != PredicateType || len(s.Subject) != 1 || s.Subject[0].Name != ManifestName {
		return differs(BundleName, fmt.Errorf("the statement is of type %q over %d subjects: want %q over %s alone",
			s.PredicateType, len(s.Subject), PredicateType, ManifestName))
	}
	return s.Predicate, nil
}

// trust accepts exactly one public key, without expiry.
func trust(key *ecdsa.PublicKey) (root.TrustedMaterial, error) {
	verifier, err := signature.LoadECDSAVerifier(key, crypto.SHA256)
	if err != nil {
		return nil, err
	}
	expiring := root.NewExpiringKey(verifier, time.Time{}, time.Time{})
	return root.NewTrustedPublicKeyMaterial(func(string) (root.TimeConstrainedVerifier, error) {
		return expiring, nil
	}), nil
}
