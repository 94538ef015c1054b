package ui

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// least is the size in bytes above which answers are compressed.
const least = 4 << 10

// send writes an answer, compressed if the browser accepts that: pages are mostly numbers and
// repeated names.
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
	z.Write(data) // never fails: z writes to a Buffer
	z.Close()
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("Vary", "Accept-Encoding")
	w.Write(out.Bytes())
}
