package main

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestAnswers(t *testing.T) {
	handler, all := newHandler(), texts()
	for range 3 { // a pooled writer keeps nothing of the previous answer
		for id, want := range map[string]string{"0": string(all[0]), "71": string(all[71]), "199": string(all[199])} {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/articles/"+id, nil))
			r, err := gzip.NewReader(w.Body)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(r); err != nil || string(got) != want {
				t.Errorf("article %s: %q, %v; want %q", id, got, err, want)
			}
		}
	}
	for _, id := range []string{"-1", "200", "x"} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/articles/"+id, nil))
		if w.Code != http.StatusNotFound {
			t.Errorf("article %s: %d", id, w.Code)
		}
	}
}
