package timeline_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/timeline"
)

// The spans of 5 ms of a trace, for a drawing.
func Example() {
	file, err := os.Open("../testdata/go1.25.1.trace.gz")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	fold := timeline.New(timeline.Options{To: 5e6})
	if _, err := exectrace.Read(context.Background(), file, exectrace.Options{}, fold); err != nil {
		log.Fatal(err)
	}
	r := fold.Result()
	spans := 0
	for _, row := range r.Goroutines {
		spans += len(row.Spans)
	}
	fmt.Println(len(r.Processors), "processors,", len(r.Goroutines), "goroutines,", spans, "spans,", len(r.Wakes), "wake-ups")
	// Output:
	// 2 processors, 17 goroutines, 199 spans, 4 wake-ups
}
