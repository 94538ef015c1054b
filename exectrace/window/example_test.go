package window_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/window"
)

// The flame graph of where goroutines waited in one half of a trace: the trace is indexed once, and
// a query reads only a small part of it.
func Example() {
	file, err := os.Open("../testdata/go1.25.1.trace.gz")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		log.Fatal(err)
	}
	data, err := io.ReadAll(z) // an index needs random access
	if err != nil {
		log.Fatal(err)
	}
	indexer := window.NewIndexer()
	t, err := exectrace.Read(context.Background(), bytes.NewReader(data), exectrace.Options{}, indexer.Fold())
	if err != nil {
		log.Fatal(err)
	}
	index, err := indexer.Index(t, bytes.NewReader(data))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(window.Views())
	p, err := index.Profile(context.Background(), "blocking", index.Length()/2, index.Length())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.SampleTypes, p.NumSamples() > 0)
	// Output:
	// [cpu blocking sched syscalls]
	// [{contentions count} {delay nanoseconds}] true
}
