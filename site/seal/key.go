package seal

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"

	protocommon "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
)

// Key is a P-256 signing key. It satisfies sigstore-go's sign.Keypair.
type Key struct{ private *ecdsa.PrivateKey }

// EphemeralKey makes a key that is thrown away with the process: a site signed with it proves
// that its files belong together, not who built it.
func EphemeralKey() (*Key, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return &Key{private}, err
}

// ReadKey reads an unencrypted PEM private key (PKCS #8 or SEC 1) on curve P-256.
func ReadKey(path string) (*Key, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	private, err := cryptoutils.UnmarshalPEMToPrivateKey(pem, cryptoutils.SkipPassword)
	if err != nil {
		return nil, fmt.Errorf("%s: not a PEM private key: %w", path, err)
	}
	key, ok := private.(*ecdsa.PrivateKey)
	if !ok || key.Curve != elliptic.P256() {
		return nil, fmt.Errorf("%s: a %T: accepted is an ECDSA key on curve P-256", path, private)
	}
	return &Key{key}, nil
}

// ReadPublicKey reads a PEM public key on curve P-256.
func ReadPublicKey(path string) (*ecdsa.PublicKey, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parsePublicKey(path, pem)
}

func parsePublicKey(name string, pem []byte) (*ecdsa.PublicKey, error) {
	public, err := cryptoutils.UnmarshalPEMToPublicKey(pem)
	if err != nil {
		return nil, fmt.Errorf("%s: not a PEM public key: %w", name, err)
	}
	key, ok := public.(*ecdsa.PublicKey)
	if !ok || key.Curve != elliptic.P256() {
		return nil, fmt.Errorf("%s: a %T: accepted is an ECDSA key on curve P-256", name, public)
	}
	return key, nil
}

// hintOf names a public key as sigstore does: base64 of SHA-256 of its PKIX form.
func hintOf(public *ecdsa.PublicKey) (string, error) {
	der, err := cryptoutils.MarshalPublicKeyToDER(public)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(der)
	return base64.StdEncoding.EncodeToString(sum[:]), nil
}

func (k *Key) GetHashAlgorithm() protocommon.HashAlgorithm {
	return protocommon.HashAlgorithm_SHA2_256
}

func (k *Key) GetSigningAlgorithm() protocommon.PublicKeyDetails {
	return protocommon.PublicKeyDetails_PKIX_ECDSA_P256_SHA_256
}

func (k *Key) GetHint() []byte {
	hint, err := hintOf(&k.private.PublicKey)
	if err != nil {
		return nil
	}
	return []byte(hint)
}

func (k *Key) GetKeyAlgorithm() string { return "ECDSA" }

func (k *Key) GetPublicKey() crypto.PublicKey { return &k.private.PublicKey }

func (k *Key) GetPublicKeyPem() (string, error) {
	pem, err := cryptoutils.MarshalPublicKeyToPEM(&k.private.PublicKey)
	return string(bytes.TrimSpace(pem)) + "\n", err
}

// SignData returns an ASN.1 ECDSA signature over SHA-256 of data, and that digest.
func (k *Key) SignData(_ context.Context, data []byte) (signature, digest []byte, err error) {
	sum := sha256.Sum256(data)
	signature, err = ecdsa.SignASN1(rand.Reader, k.private, sum[:])
	return signature, sum[:], err
}
