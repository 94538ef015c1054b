package gc_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/gc"
)

// What garbage collection cost a program.
func Example() {
	file, err := os.Open("../testdata/go1.25.1.trace.gz")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	var fold gc.Fold
	if _, err := exectrace.Read(context.Background(), file, exectrace.Options{}, &fold); err != nil {
		log.Fatal(err)
	}
	r := fold.Result()
	fmt.Printf("%d cycles, in progress for %.1f %% of the time\n", r.Cycles, 100*r.Share)
	for _, s := range r.Stops {
		fmt.Printf("%s: %d stops of the world, %.0f µs at most\n", s.Reason, s.Count, 1e6*s.Max)
	}
	for _, w := range r.Utilization {
		if w.Length == 0.01 {
			fmt.Printf("in the worst 10 ms the program had %.0f %% of its processors\n", 100*w.Least)
		}
	}
	// Output:
	// 2 cycles, in progress for 0.2 % of the time
	// start trace: 1 stops of the world, 4127 µs at most
	// GC mark termination: 2 stops of the world, 216 µs at most
	// GC sweep termination: 2 stops of the world, 50 µs at most
	// in the worst 10 ms the program had 42 % of its processors
}
