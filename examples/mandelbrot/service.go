package main

import (
	"context"
	"log"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// newHandler serves the picture, and the profiler for those who want to watch.
func newHandler(paint painter, size int) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /mandelbrot", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		if err := draw(w, paint, size); err != nil {
			log.Printf("answer %s: %v", r.RemoteAddr, err)
		}
	})
	// A mux of one's own has none of these unless each is mounted.
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

// serve answers until ctx ends, then lets the requests under way finish.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return server.Shutdown(end)
}
