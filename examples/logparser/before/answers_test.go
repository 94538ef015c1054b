package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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

const (
	orderLine = "2026-11-20T10:00:00Z INFO shop: POST /checkout user=42 order=a7 took=13"
	debugLine = "2026-11-20T10:00:00Z DEBUG shop: cache miss"
	proseLine = "nothing that a rule asks for"
)

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		name     string
		customer int
		text     string
		record   string // "" when dropped
	}{
		{"all rules", 10_000, orderLine, `{"customer":10000,"text":"` + orderLine + `","fields":{"app_10000":"shop","level":"INFO",` +
			`"millis_10000":"13","order_10000":"a7","time":"2026-11-20T10:00:00Z","user":"***"}}`},
		{"other customer", 10_001, "order=b", `{"customer":10001,"text":"order=b","fields":{"order_10001":"b"}}`},
		{"nothing to extract", 10_000, proseLine, `{"customer":10000,"text":"` + proseLine + `","fields":{}}`},
		{"customer without rules", 9, debugLine, `{"customer":9,"text":"` + debugLine + `","fields":{}}`},
		{"blocked", 10_000, debugLine, ""},
		{"blocked by a field", 10_000, "env=test", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out strings.Builder
			passed, err := newParser(sampleRules(2), &out).parse(tc.customer, tc.text)
			if err != nil || passed != (tc.record != "") || out.String() != tc.record {
				t.Errorf("passed %t, %v:\n%s\nwant\n%s", passed, err, &out, tc.record)
			}
		})
	}
}

func TestParseFails(t *testing.T) {
	if passed, err := newParser(nil, full{}).parse(1, "x"); passed || !errors.Is(err, errFull) {
		t.Errorf("passed %t, %v", passed, err)
	}
}

type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestAccept(t *testing.T) {
	for _, tc := range []struct {
		name, body string
		status     int
		want       string
	}{
		{"passed and blocked", "10000 " + orderLine + "\n10001 " + debugLine + "\n10001 " + orderLine + "\n", 200, `{"passed":2,"blocked":1}`},
		{"nothing", "", 200, `{"passed":0,"blocked":0}`},
		{"no text", "10000 x\n10000\n", 400, "line 2: want CUSTOMER TEXT"},
		{"no customer", "shop x\n", 400, `line 1: customer: strconv.Atoi: parsing "shop": invalid syntax`},
		{"endless line", strings.Repeat("1", 100_000), 400, "bufio.Scanner: token too long"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			newHandler(newParser(sampleRules(2), io.Discard)).ServeHTTP(w, httptest.NewRequest("POST", "/v1/logs", strings.NewReader(tc.body)))
			if got := strings.TrimSpace(w.Body.String()); w.Code != tc.status || got != tc.want {
				t.Errorf("%d %s, want %d %s", w.Code, got, tc.status, tc.want)
			}
		})
	}
}

// The tail has the last records, oldest first.
func TestTail(t *testing.T) {
	p := newParser(sampleRules(1), io.Discard)
	handler := newHandler(p)
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w.Code, strings.TrimSpace(w.Body.String())
	}
	if status, body := get("/v1/tail/10000"); status != 200 || body != "[]" {
		t.Errorf("before the first record: %d %s", status, body)
	}
	for i := range tailLength + 2 {
		if _, err := p.parse(10_000, fmt.Sprint("line ", i)); err != nil {
			t.Fatal(err)
		}
	}
	status, body := get("/v1/tail/10000")
	var records []record
	if err := json.Unmarshal([]byte(body), &records); err != nil || status != 200 || len(records) != tailLength {
		t.Fatalf("%d, %v, %d records", status, err, len(records))
	}
	for i, r := range records {
		if want := fmt.Sprint("line ", i+2); r.Text != want {
			t.Errorf("record %d is %q, want %q", i, r.Text, want)
		}
	}
	for _, path := range []string{"/v1/tail/10001", "/v1/tail/x"} {
		if status, _ := get(path); status != 404 {
			t.Errorf("%s: status %d", path, status)
		}
	}
}

// Every execution is counted by customer, rule and outcome.
func TestMetrics(t *testing.T) {
	handler := newHandler(newParser(sampleRules(2), io.Discard))
	body := strings.NewReader("10000 " + orderLine + "\n10000 " + orderLine + "\n10001 " + debugLine + "\n")
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/v1/logs", body))
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for series, want := range map[string]string{
		`{applied="true",customer="10000",rule="took"}`:      "2",
		`{applied="false",customer="10000",rule="no-tests"}`: "2",
		`{applied="true",customer="10001",rule="no-debug"}`:  "1",
		`{applied="true",customer="10001",rule="took"}`:      "0",
		`{applied="false",customer="10001",rule="took"}`:     "0",
	} {
		got := "0" // a series without executions may be missing
		if _, rest, ok := strings.Cut(w.Body.String(), "rule_executions_total"+series+" "); ok {
			got, _, _ = strings.Cut(rest, "\n")
		}
		if got != want {
			t.Errorf("%s is %s, want %s", series, got, want)
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
	go func() { ended <- serve(ctx, listener, newParser(sampleRules(1), io.Discard)) }()

	client := &http.Client{Timeout: 5 * time.Second}
	defer client.CloseIdleConnections()
	resp, err := client.Post("http://"+listener.Addr().String()+"/v1/logs", "text/plain", strings.NewReader("1 x\n"))
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

func BenchmarkParse(b *testing.B) {
	p := newParser(sampleRules(10), io.Discard)
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if _, err := p.parse(firstCustomer+i%10, orderLine); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAccept(b *testing.B) {
	batch, err := os.ReadFile("batch.txt")
	if err != nil {
		b.Fatal(err)
	}
	handler := newHandler(newParser(sampleRules(1500), io.Discard))
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("POST", "/v1/logs", bytes.NewReader(batch)))
		if w.Code != http.StatusOK {
			b.Fatal(w.Code)
		}
	}
}
