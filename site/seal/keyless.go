package seal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sigstore/sigstore-go/pkg/bundle"
)

// KeylessName is a second bundle over the manifest, which a workflow may add after sealing: signed
// under its own identity, without a stored key. Whose signature it carries is cosign's to say, which
// has the public root of trust; [Verify] holds what it is about to the site.
const KeylessName = "site.keyless.sigstore.json"

// aboutManifest takes a keyless bundle that is not about this manifest alone for a difference.
func aboutManifest(dir string, manifest []byte) error {
	data, err := os.ReadFile(filepath.Join(dir, KeylessName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	differs := func(format string, args ...any) error {
		return &DifferenceError{KeylessName, fmt.Sprintf(format, args...)}
	}
	var b bundle.Bundle
	if err := b.UnmarshalJSON(data); err != nil {
		return differs("is no sigstore bundle: %v", err)
	}
	if cert := b.GetVerificationMaterial().GetCertificate(); cert == nil {
		return differs("names no identity: it holds no certificate")
	}
	envelope, err := b.Envelope()
	if err != nil {
		return differs("carries no attestation: %v", err)
	}
	payload, err := envelope.RawEnvelope().DecodeB64Payload()
	if err != nil {
		return differs("its payload cannot be read: %v", err)
	}
	var s statement
	if err := json.NewDecoder(bytes.NewReader(payload)).Decode(&s); err != nil {
		return differs("its statement cannot be read: %v", err)
	}
	sum := sha256.Sum256(manifest)
	switch {
	case s.Type != statementType || s.PredicateType != PredicateType:
		return differs("is a statement of type %q, %q: want %q, %q", s.Type, s.PredicateType, statementType, PredicateType)
	case len(s.Subject) != 1 || s.Subject[0].Name != ManifestName:
		return differs("is not about %s alone", ManifestName)
	case s.Subject[0].Digest["sha256"] != hex.EncodeToString(sum[:]):
		return differs("is about another %s", ManifestName)
	}
	return nil
}
