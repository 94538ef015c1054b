package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

func TestAnswers(t *testing.T) {
	handler := newHandler()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for pieces, want := range map[string]string{
				"1": "101.7269", "3": "301.7269", "450": "46927.9769", "0": "pieces must be between 1 and 500", "x": "pieces must be between 1 and 500",
			} {
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/quote?pieces="+pieces, nil))
				if got := strings.TrimSpace(w.Body.String()); got != want {
					t.Errorf("%s pieces: %s, want %s", pieces, got, want)
				}
			}
		})
	}
	wg.Wait()
}
