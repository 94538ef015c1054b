// Command sessions counts the visits of users, and saves each count to a slow store.
package main

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"example.com/promises/serve"
)

// store stands for a database on another machine: a write takes a millisecond and no CPU.
type store struct {
	delay time.Duration
	saved sync.Map // by user
}

func (s *store) save(user string, visits int) {
	time.Sleep(s.delay)
	s.saved.Store(user, visits)
}

type sessions struct {
	mu     sync.Mutex
	visits map[string]int
	store  *store
}

func newHandler(s *sessions) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /visit/{user}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%d\n", s.visit(r.PathValue("user")))
	})
	return mux
}

func main() {
	serve.Main(newHandler(&sessions{visits: map[string]int{}, store: &store{delay: time.Millisecond}}))
}
