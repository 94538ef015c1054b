package cli

import (
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"testing"
)

// forward returns a handler that passes requests to a server, so that a test's page and those of
// the server have the same origin.
func forward(t *testing.T, to *url.URL) http.Handler {
	t.Helper()
	return &httputil.ReverseProxy{FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Header.Del("Origin") // of the test's page
	}}
}
