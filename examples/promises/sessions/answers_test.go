package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestAnswers(t *testing.T) {
	s := &sessions{visits: map[string]int{}, store: &store{}}
	handler := newHandler(s)
	for _, tc := range [][2]string{{"anna", "1\n"}, {"bert", "1\n"}, {"anna", "2\n"}, {"anna", "3\n"}, {"bert", "2\n"}} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/visit/"+tc[0], nil))
		if got := w.Body.String(); got != tc[1] {
			t.Errorf("%s: %q, want %q", tc[0], got, tc[1])
		}
	}
	for user, want := range map[string]int{"anna": 3, "bert": 2} {
		if got, _ := s.store.saved.Load(user); got != want {
			t.Errorf("%v saved of %s, want %d", got, user, want)
		}
	}
}
