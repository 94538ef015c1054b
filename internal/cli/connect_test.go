package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"flag"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A service that demands a client certificate can be read with -cert, -key and -ca, and not
// without.
func TestReportsFromAServiceWithTLS(t *testing.T) {
	dir := t.TempDir()
	clients := clientCertificate(t, dir)
	s := httptest.NewUnstartedServer(http.HandlerFunc(pprof.Index))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients}
	s.StartTLS()
	defer s.Close()
	writePEM(t, filepath.Join(dir, "ca.pem"), "CERTIFICATE", s.Certificate().Raw)

	url := s.URL + "/debug/pprof/goroutine"
	cert, key, ca := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "ca.pem")
	for _, tc := range []struct {
		flags  []string
		code   int
		stdout string
		stderr string
	}{
		{nil, 1, "", "-ca FILE, or -insecure"},
		{[]string{"-ca", ca}, 1, "", "certificate"},
		{[]string{"-ca", ca, "-cert", cert, "-key", key}, 0, "testing.(*T).Run", ""},
		{[]string{"-insecure", "-cert", cert, "-key", key}, 0, "testing.(*T).Run", ""},
		{[]string{"-insecure", "-cert", cert, "-key", filepath.Join(dir, "gone.pem")}, 1, "", "gone.pem"},
	} {
		var stdout, stderr bytes.Buffer
		env := Env{Stdout: &stdout, Stderr: &stderr, Width: 100, Dir: dir, CacheDir: t.TempDir()}
		code := Main(context.Background(), append([]string{"top", "-top", "-1", url}, tc.flags...), env)
		if code != tc.code || !strings.Contains(stdout.String(), tc.stdout) || !strings.Contains(stderr.String(), tc.stderr) {
			t.Errorf("%q: exit code %d, want %d\n%s\n%s", tc.flags, code, tc.code, stdout.String(), stderr.String())
		}
	}
}

// Attaching connects to the service in the same way as the load.
func TestAttachTakesTheFlagsOfTheConnection(t *testing.T) {
	fs := flag.NewFlagSet("run", flag.ContinueOnError)
	var r recordFlags
	r.declare(fs)
	if err := fs.Parse([]string{"-insecure", "-header", "Authorization: Bearer x"}); err != nil {
		t.Fatal(err)
	}
	o, err := r.capture(Env{}, []string{"https://shop.example"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if o.Attach.TLS == nil || !o.Attach.TLS.InsecureSkipVerify || len(o.Attach.Header) != 1 {
		t.Errorf("attach with %+v", o.Attach)
	}
}

// clientCertificate writes cert.pem and key.pem to dir and returns the pool that trusts them.
func clientCertificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "client"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		IsCA:        true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, filepath.Join(dir, "cert.pem"), "CERTIFICATE", der)
	writePEM(t, filepath.Join(dir, "key.pem"), "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return pool
}

func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}
