// Command leftpad answers GET /v1/leftpad/?str=test&len=50&chr=* with the
// string padded on the left, as JSON.
//
// This is the service after its profile was read. Its counterpart in ../before gives
// the same answers and carries the culprits.
package main

import (
	"context"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen on")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}

	lines := newLogBuffer(os.Stderr)
	log.SetOutput(lines)
	err = serve(ctx, listener)
	lines.Close()
	log.SetOutput(os.Stderr)
	if err != nil {
		log.Fatal(err)
	}
}

// serve answers until ctx ends, then lets the requests under way finish.
func serve(ctx context.Context, listener net.Listener) error {
	// This instance sees a tenth of the traffic; StatsD scales by the rate.
	// No StatsD server is configured: the metrics are formatted and dropped.
	stats := newStatsD(io.Discard, "leftpad", 0.1)
	server := &http.Server{Handler: newHandler(stats), ReadHeaderTimeout: 5 * time.Second}

	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	log.Printf("listening on http://%s", listener.Addr())

	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return server.Shutdown(end)
}
