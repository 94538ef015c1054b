// Command archive serves short texts, compressed for clients that take it.
package main

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"example.com/promises/serve"
)

// texts are the archive's articles, some 1 KB each.
func texts() [][]byte {
	var all [][]byte
	for i := range 200 {
		var b strings.Builder
		for j := range 12 {
			fmt.Fprintf(&b, "Paragraph %d of article %d tells of the %s in the year %d.\n",
				j, i, []string{"harbour", "railway", "market", "bridge", "mill"}[(i+j)%5], 1800+(i*13+j*7)%200)
		}
		all = append(all, []byte(b.String()))
	}
	return all
}

func newHandler() http.Handler {
	all := texts()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /articles/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.Atoi(r.PathValue("id"))
		if err != nil || id < 0 || id >= len(all) {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Content-Encoding", "gzip")
		if err := compress(w, all[id]); err != nil {
			panic(http.ErrAbortHandler) // the client is gone
		}
	})
	return mux
}

func main() { serve.Main(newHandler()) }
