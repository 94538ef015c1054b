package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

func TestAnswers(t *testing.T) {
	handler := newHandler()
	sent, err := os.ReadFile("message.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		body, want string
		code       int
	}{
		{string(sent), `{"id":"2f61c0de-0b34-4d0f-9f5c-8a1d7e2b9c55","folder":"lists","labels":2}`, http.StatusOK},
		{`{"id":"1","urgent":true,"subject":"a [b] c","size":12}`, `{"id":"1","folder":"urgent","labels":1}`, http.StatusOK},
		{`{"id":"2","sender":"a@b","other":[1,2]}`, `{"id":"2","folder":"in","labels":0}`, http.StatusOK},
		{`{"id":`, "unexpected end of JSON input", http.StatusBadRequest},
	} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/messages", strings.NewReader(tc.body)))
		if got := strings.TrimSpace(w.Body.String()); w.Code != tc.code || got != tc.want {
			t.Errorf("%s: %d %s, want %d %s", tc.body, w.Code, got, tc.code, tc.want)
		}
	}
}
