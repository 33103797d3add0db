package seal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sigstore/sigstore-go/pkg/sign"
	"google.golang.org/protobuf/encoding/protojson"
)

// PredicateType names what the statement claims; PayloadType is in-toto's media type.
const (
	PredicateType = "https://github.com/inference-sim/accuracy-dashboard/site/v1"
	PayloadType   = "application/vnd.in-toto+json"
	statementType = "https://in-toto.io/Statement/v1"
)

// Predicate is the claim about a site: what scored it and how many files it has.
type Predicate struct {
	Release string `json:"release"` // the simulator release that produced every figure
	Source  string `json:"source"`  // revision of the source tree, or "unknown"
	Trust   string `json:"trust"`   // "signed" with a stored key, "integrity only" with an ephemeral one
	Files   int    `json:"files"`
}

type statement struct {
	Type          string    `json:"_type"`
	Subject       []subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     Predicate `json:"predicate"`
}

type subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

// Seal lists and signs the files of dir and writes the manifest, the bundle and the public key
// there. about.Files is filled in. The manifest is one subject, because verifiers refuse a
// statement of more than 1,024 (sigstore-go@v1.3.0 pkg/verify).
func Seal(ctx context.Context, dir string, key *Key, about Predicate) error {
	entries, err := list(dir)
	if err != nil {
		return err
	}
	manifest := format(entries)
	about.Files = len(entries)
	bundle, err := signManifest(ctx, manifest, key, about)
	if err != nil {
		return fmt.Errorf("sign %s: %w", ManifestName, err)
	}
	pem, err := key.GetPublicKeyPem()
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		data []byte
	}{{ManifestName, manifest}, {BundleName, bundle}, {KeyName, []byte(pem)}} {
		if err := os.WriteFile(filepath.Join(dir, f.name), f.data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func signManifest(ctx context.Context, manifest []byte, key *Key, about Predicate) ([]byte, error) {
	sum := sha256.Sum256(manifest)
	payload, err := json.Marshal(statement{
		Type:          statementType,
		Subject:       []subject{{ManifestName, map[string]string{"sha256": hex.EncodeToString(sum[:])}}},
		PredicateType: PredicateType,
		Predicate:     about,
	})
	if err != nil {
		return nil, err
	}
	content := &sign.DSSEData{Data: payload, PayloadType: PayloadType}
	bundle, err := sign.Bundle(content, key, sign.BundleOptions{Context: ctx})
	if err != nil {
		return nil, err
	}
	return protojson.Marshal(bundle)
}
