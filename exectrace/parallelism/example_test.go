package parallelism_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/parallelism"
)

// How much of the time only one goroutine had work, and which line it ran.
func Example() {
	file, err := os.Open("../testdata/go1.25.1.trace.gz")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	var fold parallelism.Fold
	if _, err := exectrace.Read(context.Background(), file, exectrace.Options{}, &fold); err != nil {
		log.Fatal(err)
	}
	r := fold.Result()
	fmt.Printf("%.2f goroutines running on %d processors\n", r.MeanRunning, r.Procs)
	fmt.Printf("%.1f %% of the time is serial\n", 100*r.Serial.Share)
	if len(r.Serial.Lines) > 0 {
		fmt.Printf("most of it at %s\n", r.Serial.Lines[0].Line)
	}
	// Output:
	// 0.01 goroutines running on 2 processors
	// 0.8 % of the time is serial
	// most of it at main.go:45
}
