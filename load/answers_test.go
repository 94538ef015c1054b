package load

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

func TestAnswers(t *testing.T) {
	var n atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/count":
			fmt.Fprint(w, n.Add(1))
		case "/none":
			http.NotFound(w, r)
		case "/broken":
			panic(http.ErrAbortHandler)
		default:
			fmt.Fprint(w, "hello")
		}
	}))
	defer srv.Close()
	o := Options{Timeout: 10 * time.Second}
	for _, path := range []string{"/", "/count", "/none", "/broken", "/more"} {
		o.Targets = append(o.Targets, Target{Method: "GET", URL: srv.URL + path})
	}
	var turns [2][]Answer
	for i := range turns {
		var err error
		if turns[i], err = Answers(t.Context(), o, 4); err != nil || len(turns[i]) != 4 {
			t.Fatalf("%v, %v", turns[i], err)
		}
	}
	first, second := turns[0], turns[1]
	if first[0] != second[0] || first[0].Status != 200 || len(first[0].Body) != 64 || first[0].Target != "GET "+srv.URL+"/" {
		t.Errorf("the same answer twice: %+v, %+v", first[0], second[0])
	}
	if first[1].Body == second[1].Body || first[1].Status != 200 {
		t.Errorf("a counter: %+v, %+v", first[1], second[1])
	}
	if first[2].Status != 404 || first[2].Error != "" {
		t.Errorf("not there: %+v", first[2])
	}
	if first[3].Error == "" || first[3].Status != 0 || first[3].Body != "" {
		t.Errorf("no answer: %+v", first[3])
	}
}
