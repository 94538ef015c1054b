package browsertest

import (
	_ "embed"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

//go:embed testdata/drive.js
var helpers string

// Drive opens a page with a script that drives the pages of a handler in a frame of the same
// origin, and returns what the script saw. Unlike that of [OpenURL], the browser's clock is the
// real one, so that the script can wait for the server. It calls see(WHAT, GOT); testdata/drive.js
// has the other functions. An exception of the script, or an error in the console of the page,
// fails the test.
func Drive(t *testing.T, h http.Handler, script string) map[string]string {
	t.Helper()
	done := make(chan []byte, 1)
	mux := http.NewServeMux()
	mux.Handle("/", h)
	mux.HandleFunc("GET /drive", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, `<!doctype html><iframe id="f" width="1000" height="700"></iframe><img src="/drive/held" alt=""><script type="module">`+helpers+`
try {
`+script+`
} catch (e) {
  errors.push(String(e?.stack || e));
}
see("errors", errors.join("; "));
await fetch("/drive/seen", { method: "POST", body: JSON.stringify(seen) });
</script>`)
	})
	mux.HandleFunc("POST /drive/seen", func(_ http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		if err == nil {
			done <- data
		}
	})
	// The browser exits when the page is loaded, and the page has loaded when it gets this image.
	over := make(chan struct{})
	var result []byte
	mux.HandleFunc("GET /drive/held", func(w http.ResponseWriter, r *http.Request) {
		select {
		case result = <-done:
		case <-r.Context().Done():
		case <-time.After(2 * time.Minute):
		}
		close(over)
		http.NotFound(w, r)
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	run(t, "--window-size=1000,700", "--dump-dom", server.URL+"/drive")
	select {
	case <-over:
	case <-time.After(10 * time.Second):
	}
	var list []struct{ What, Got string }
	if err := json.Unmarshal(result, &list); err != nil {
		t.Fatalf("the script did not run to its end: %v %.300q", err, result)
	}
	got := map[string]string{}
	for _, s := range list {
		got[s.What] = s.Got
	}
	if strings.TrimSpace(got["errors"]) != "" {
		t.Errorf("errors in the browser: %s", got["errors"])
	}
	return got
}
