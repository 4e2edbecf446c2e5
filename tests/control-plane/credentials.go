package main

// The certificates and keys of one cluster, and kubeconfig files made of them.

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// An authority issues the certificates of one cluster into a folder.
type authority struct {
	folder      string
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// A pair is the paths of a certificate and its key.
type pair struct {
	certificate, key string
}

// Certificates begin a little before now, for clocks that are set back.
const slack = time.Hour

// The cluster ends with the process that asked for it. A week is longer than any.
const clusterLifetime = 7 * 24 * time.Hour

func newAuthority(folder string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "control plane of the tests"},
		NotBefore:             time.Now().Add(-slack),
		NotAfter:              time.Now().Add(clusterLifetime),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	encoded, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(encoded)
	if err != nil {
		return nil, err
	}
	made := &authority{folder: folder, certificate: certificate, key: key}
	return made, made.write("ca", encoded, key)
}

func (authority *authority) pair(name string) pair {
	return pair{
		certificate: filepath.Join(authority.folder, name+".crt"),
		key:         filepath.Join(authority.folder, name+".key"),
	}
}

func (authority *authority) write(name string, certificate []byte, key *ecdsa.PrivateKey) error {
	encoded, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	paths := authority.pair(name)
	if err := writePEM(paths.certificate, "CERTIFICATE", certificate); err != nil {
		return err
	}
	return writePEM(paths.key, "EC PRIVATE KEY", encoded)
}

func writePEM(path, kind string, bytes []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600)
}

// Issues a certificate for a server on 127.0.0.1 (with `names`), or for a client.
func (authority *authority) issue(file string, subject pkix.Name, names []string, lifetime time.Duration) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return pair{}, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    time.Now().Add(-slack),
		NotAfter:     time.Now().Add(lifetime),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if len(names) > 0 {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		template.DNSNames = names
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 96, 0, 1)}
	}
	encoded, err := x509.CreateCertificate(rand.Reader, template, authority.certificate, &key.PublicKey, authority.key)
	if err != nil {
		return pair{}, err
	}
	return authority.pair(file), authority.write(file, encoded, key)
}

// Makes the key that signs the tokens of service accounts; the API server also takes it as the public one.
func (authority *authority) tokenKey() (string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	encoded, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return "", err
	}
	path := filepath.Join(authority.folder, "service-accounts.key")
	return path, writePEM(path, "EC PRIVATE KEY", encoded)
}

// Issues a client certificate, and writes the kubeconfig that uses it. Everything is in the one file.
func (authority *authority) kubeconfig(server, name string, groups []string, lifetime time.Duration) (string, error) {
	// A user may be made again, with another lifetime or other groups: the file is what the newest has.
	file := fmt.Sprintf("user-%x", name)
	issued, err := authority.issue(file, pkix.Name{CommonName: name, Organization: groups}, nil, lifetime)
	if err != nil {
		return "", err
	}
	contents := [3][]byte{}
	for index, path := range []string{authority.pair("ca").certificate, issued.certificate, issued.key} {
		if contents[index], err = os.ReadFile(path); err != nil {
			return "", err
		}
	}
	// JSON is YAML, and a byte slice becomes base64, as the file wants it.
	text, err := json.MarshalIndent(map[string]any{
		"apiVersion":      "v1",
		"kind":            "Config",
		"current-context": "tests",
		"clusters": []any{map[string]any{
			"name":    "tests",
			"cluster": map[string]any{"server": server, "certificate-authority-data": contents[0]},
		}},
		"contexts": []any{map[string]any{
			"name":    "tests",
			"context": map[string]any{"cluster": "tests", "user": name},
		}},
		"users": []any{map[string]any{
			"name": name,
			"user": map[string]any{"client-certificate-data": contents[1], "client-key-data": contents[2]},
		}},
	}, "", "  ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(authority.folder, file+".kubeconfig")
	return path, os.WriteFile(path, append(text, '\n'), 0o600)
}
