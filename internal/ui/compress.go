package ui

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// least is the size in bytes from which an answer is worth compressing.
const least = 4 << 10

// send writes an answer, compressed where the browser takes that: pages are mostly numbers and names that come again.
func send(w http.ResponseWriter, r *http.Request, data []byte) {
	if len(data) < least || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Write(data)
		return
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		w.Write(data)
		return
	}
	z.Write(data) // a Buffer takes all
	z.Close()
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("Vary", "Accept-Encoding")
	w.Write(out.Bytes())
}
