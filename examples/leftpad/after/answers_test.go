package main

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/quick"
	"time"
	"unicode/utf8"
)

// This file is the same in ../before and ../after: both services give the same answers, and differ
// only in what they cost.

// The request of the published post.
const accountPath = "/v1/leftpad/?str=test&len=50&chr=*"

func TestMain(m *testing.M) {
	// This is the null device instead of io.Discard, for which package log has a fast path: the
	// benchmarks should pay for the lines.
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		log.Fatal(err)
	}
	log.SetOutput(null)
	os.Exit(m.Run())
}

func TestAnswers(t *testing.T) {
	stars := strings.Repeat("*", 46)
	for _, tc := range []struct {
		name, method, path string
		status             int
		body               string
	}{
		{"account", "GET", accountPath, 200, `{"str":"` + stars + `test"}` + "\n"},
		{"space by default", "GET", "/v1/leftpad/?str=test&len=6", 200, `{"str":"  test"}` + "\n"},
		{"empty string", "GET", "/v1/leftpad/?len=3&chr=0", 200, `{"str":"000"}` + "\n"},
		{"already long enough", "GET", "/v1/leftpad/?str=test&len=4&chr=*", 200, `{"str":"test"}` + "\n"},
		{"longer than asked", "GET", "/v1/leftpad/?str=testing&len=4&chr=*", 200, `{"str":"testing"}` + "\n"},
		{"two-byte character", "GET", "/v1/leftpad/?str=a&len=4&chr=%C3%A9", 200, `{"str":"ééa"}` + "\n"},
		{"quoted in JSON", "GET", "/v1/leftpad/?str=%22&len=3&chr=%5C", 200, `{"str":"\\\\\""}` + "\n"},
		{"escaped in HTML", "GET", "/v1/leftpad/?str=b&len=2&chr=%3C", 200, `{"str":"\u003cb"}` + "\n"},
		{"no length", "GET", "/v1/leftpad/?str=test", 400, "len: want a number from 0 to 10000\n"},
		{"length no number", "GET", "/v1/leftpad/?str=test&len=x", 400, "len: want a number from 0 to 10000\n"},
		{"length below zero", "GET", "/v1/leftpad/?str=test&len=-1", 400, "len: want a number from 0 to 10000\n"},
		{"length too large", "GET", "/v1/leftpad/?str=test&len=10001", 400, "len: want a number from 0 to 10000\n"},
		{"two characters", "GET", "/v1/leftpad/?str=test&len=9&chr=ab", 400, "chr: want one character\n"},
		{"broken character", "GET", "/v1/leftpad/?str=test&len=9&chr=%FF", 400, "chr: want one character\n"},
		{"other method", "POST", accountPath, 405, "Method Not Allowed\n"},
		{"other path", "GET", "/v2/leftpad/", 404, "404 page not found\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			newHandler(newStatsD(io.Discard, "leftpad", 0.1)).ServeHTTP(w, httptest.NewRequest(tc.method, tc.path, nil))
			if w.Code != tc.status || w.Body.String() != tc.body {
				t.Errorf("%s %s: %d %q, want %d %q", tc.method, tc.path, w.Code, w.Body, tc.status, tc.body)
			}
			if tc.status == 200 && w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("Content-Type is %q", w.Header().Get("Content-Type"))
			}
		})
	}
}

// A padded string is the string after as many pad characters as reach the length.
func TestLeftpadIsMinimal(t *testing.T) {
	minimal := func(s string, length uint8, c rune) bool {
		if !utf8.ValidRune(c) {
			c = '*'
		}
		padded := leftpad(s, int(length), c)
		pad, ok := strings.CutSuffix(padded, s)
		return ok &&
			strings.Trim(pad, string(c)) == "" &&
			len(padded) >= int(length) &&
			(pad == "" || len(padded)-len(string(c)) < int(length))
	}
	if err := quick.Check(minimal, nil); err != nil {
		t.Error(err)
	}
}

func TestMetricLines(t *testing.T) {
	for _, tc := range []struct {
		rate float64
		send func(*StatsD)
		want string
	}{
		{1, func(s *StatsD) { s.Count("hits", 1) }, "pad.hits:1|c"},
		{1, func(s *StatsD) { s.Count("hits", -3) }, "pad.hits:-3|c"},
		{0.1, func(s *StatsD) { s.Count("hits", 1) }, "pad.hits:1|c|@0.1"},
		{0.25, func(s *StatsD) { s.Histogram("length", 50) }, "pad.length:50|h|@0.25"},
		{0.25, func(s *StatsD) { s.Histogram("length", 1e-9) }, "pad.length:1e-09|h|@0.25"},
		{0.5, func(s *StatsD) { s.Timing("time", 1500*time.Microsecond) }, "pad.time:1.5|ms|@0.5"},
		{0.5, func(s *StatsD) { s.Send("a:b|c@d", "g", 2.75) }, "pad.a_b_c_d:2.75|g|@0.5"},
		{0.5, func(s *StatsD) { s.Send(strings.Repeat("n", 300), "g", 1e21) }, "pad." + strings.Repeat("n", 300) + ":1e+21|g|@0.5"},
	} {
		var line strings.Builder
		tc.send(newStatsD(&line, "pad", tc.rate))
		if line.String() != tc.want {
			t.Errorf("sent %q, want %q", line.String(), tc.want)
		}
	}
}

// A request counts itself, its length and its duration.
func TestRequestMetrics(t *testing.T) {
	var lines metricLines
	newHandler(newStatsD(&lines, "leftpad", 0.1)).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", accountPath, nil))
	want := []string{"leftpad.request.received:1|c|@0.1", "leftpad.pad.length:50|h|@0.1", "leftpad.request.time:"}
	if len(lines) != len(want) {
		t.Fatalf("metrics %q, want %d of them", lines, len(want))
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, want[i]) {
			t.Errorf("metric %d is %q, want %q", i, line, want[i])
		}
	}
}

type metricLines []string

func (l *metricLines) Write(p []byte) (int, error) {
	*l = append(*l, string(p))
	return len(p), nil
}

func BenchmarkLeftpad(b *testing.B) {
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		leftpad("test", 50, '*')
	}
}

func BenchmarkLeftpad10(b *testing.B) {
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		leftpad("test", 10, '*')
	}
}

func BenchmarkSend(b *testing.B) {
	stats := newStatsD(io.Discard, "leftpad", 0.1)
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		stats.Send("request.time", "ms", 0.25)
	}
}

// BenchmarkLogged measures what logging and timing add to a request.
func BenchmarkLogged(b *testing.B) {
	h := logged(timed(newStatsD(io.Discard, "leftpad", 0.1), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	r, w := httptest.NewRequest("GET", accountPath, nil), httptest.NewRecorder()
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		h.ServeHTTP(w, r)
	}
}

func BenchmarkHandler(b *testing.B) {
	handler := newHandler(newStatsD(io.Discard, "leftpad", 0.1))
	r := httptest.NewRequest("GET", accountPath, nil)
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatal(w.Code)
		}
	}
}
