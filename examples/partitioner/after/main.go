// Command partitioner takes batches of data points and shares them out among
// the nodes of a ring:
//
//	hone run ./examples/partitioner/after -load examples/partitioner/after/targets.txt
//	hone run -bench Partition ./examples/partitioner/after
//
// This is the service after its repair. Its counterpart in ../before gives the same
// answers at a higher price.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8084", "address to listen on")
	nodes := flag.Int("nodes", 12, "nodes of the ring")
	debug := flag.Bool("debug", false, "log every data point")
	flag.Parse()
	if *nodes < 1 {
		log.Fatal("partitioner: -nodes: want at least 1")
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	level := LevelInfo
	if *debug {
		level = LevelDebug
	}
	logger := NewLogger(os.Stderr, level)
	if err := serve(ctx, listener, NewPartitioner(nodeNames(*nodes), logger)); err != nil {
		log.Fatal(err)
	}
}

func nodeNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("store-%02d", i)
	}
	return names
}

// serve answers until ctx ends, then lets the requests under way finish.
func serve(ctx context.Context, listener net.Listener, p *Partitioner) error {
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
