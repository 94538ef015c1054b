package main

import (
	"compress/flate"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

// This file is the same in ../before and ../after: both services give the same answers, and differ
// only in what they cost.

// mobileUser is a request without its closing brace.
const mobileUser = `{"flagKey":"new-checkout","entityId":"1","context":{"country":"de","platform":"mobile"}`

func TestAnswers(t *testing.T) {
	handler := newHandler(sampleFlags())
	for _, tc := range []struct {
		name, method, path, body string
		status                   int
		want                     string
	}{
		{"matching rule", "POST", "/api/v1/evaluate", mobileUser + "}", 200,
			mobileUser + `,"match":true,"segmentKey":"german-mobile","value":"off"}`},
		{"earlier rule first", "POST", "/api/v1/evaluate", `{"flagKey":"new-checkout","entityId":"1","context":{"role":"staff"}}`, 200,
			`{"flagKey":"new-checkout","entityId":"1","context":{"role":"staff"},"match":true,"segmentKey":"staff","value":"on"}`},
		{"no rule", "POST", "/api/v1/evaluate", `{"flagKey":"new-checkout","entityId":"1"}`, 200,
			`{"flagKey":"new-checkout","entityId":"1","context":null,"match":false}`},
		{"switched off", "POST", "/api/v1/evaluate", `{"flagKey":"dark-mode","entityId":"1"}`, 200,
			`{"flagKey":"dark-mode","entityId":"1","context":null,"match":false}`},
		{"unknown flag", "POST", "/api/v1/evaluate", `{"flagKey":"x","entityId":"1"}`, 404, `{"error":"flag \"x\" not found"}`},
		{"no entity", "POST", "/api/v1/evaluate", `{"flagKey":"x"}`, 400, `{"error":"flagKey and entityId are required"}`},
		{"no JSON", "POST", "/api/v1/evaluate", `flag`, 400, `{"error":"invalid character 'l' in literal false (expecting 'a')"}`},
		{"one flag", "GET", "/api/v1/flags/dark-mode", "", 200, `{"key":"dark-mode","name":"Dark colours","enabled":false,"rules":[]}`},
		{"health", "GET", "/health", "", 200, "."},
	} {
		for _, encoding := range []string{"", "deflate", "gzip"} {
			t.Run(tc.name+" "+encoding, func(t *testing.T) {
				r := httptest.NewRequest(tc.method, tc.path, strings.NewReader(tc.body))
				r.Header.Set("Accept-Encoding", encoding)
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r)
				if got := strings.TrimSpace(decoded(t, w)); w.Code != tc.status || got != tc.want {
					t.Errorf("%d %s\nwant %d %s", w.Code, got, tc.status, tc.want)
				}
				json := w.Header().Get("Content-Type") == "application/json"
				if got := w.Header().Get("Content-Encoding"); json && got != encoding {
					t.Errorf("encoded with %q, want %q", got, encoding)
				}
			})
		}
	}
}

// decoded returns the body as a client decodes it.
func decoded(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var body io.Reader = w.Body
	switch w.Header().Get("Content-Encoding") {
	case "deflate":
		body = flate.NewReader(body)
	case "gzip":
		var err error
		if body, err = gzip.NewReader(body); err != nil {
			t.Fatal(err)
		}
	}
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Variants are assigned to entities in proportion to their percentages.
func TestShares(t *testing.T) {
	flag, err := sampleFlags().get("new-checkout")
	if err != nil {
		t.Fatal(err)
	}
	const n = 20_000
	got := map[string]int{}
	for i := range n {
		e := evaluation{EntityID: fmt.Sprint(i), Context: map[string]string{"country": "de", "platform": "mobile"}}
		got[flag.evaluate(e).Value]++
	}
	for variant, percent := range map[string]int{"on": 40, "with-help": 10, "off": 50} {
		if off := got[variant] - percent*n/100; off < -n/100 || off > n/100 {
			t.Errorf("%d of %d see %q, want %d %%", got[variant], n, variant, percent)
		}
	}
}

// The service stops on request, without an error.
func TestServeEnds(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, listener) }()

	client := &http.Client{Timeout: 5 * time.Second}
	defer client.CloseIdleConnections()
	body := strings.NewReader(mobileUser + "}")
	resp, err := client.Post("http://"+listener.Addr().String()+"/api/v1/evaluate", "application/json", body)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("status %d", resp.StatusCode)
	}

	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("still serving 10 s after the stop")
	}
}

func BenchmarkEvaluate(b *testing.B) {
	handler := newHandler(sampleFlags())
	body, err := os.ReadFile("evaluate.json")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		r := httptest.NewRequest("POST", "/api/v1/evaluate", strings.NewReader(string(body)))
		r.Header.Set("Accept-Encoding", "deflate")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatal(w.Code)
		}
	}
}
