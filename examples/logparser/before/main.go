// Command logparser takes batches of log lines, applies each customer's parsing
// rules to them and passes the records on as JSON:
//
//	hone run ./examples/logparser/before -load examples/logparser/before/targets.txt -connections 8
//
// This is the service before anybody measured it. Its counterpart in ../after gives
// the same answers with the culprits fixed.
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
	addr := flag.String("addr", "127.0.0.1:8085", "address to listen on")
	customers := flag.Int("customers", 1500, "customers that have rules")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	// The queue behind is not part of this example: the records are dropped.
	if err := serve(ctx, listener, newParser(sampleRules(*customers), io.Discard)); err != nil {
		log.Fatal(err)
	}
}

// serve answers until ctx ends, then lets the requests under way finish.
func serve(ctx context.Context, listener net.Listener, p *parser) error {
	server := &http.Server{Handler: newHandler(p), ReadHeaderTimeout: 5 * time.Second}

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
