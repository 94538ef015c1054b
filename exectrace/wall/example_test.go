package wall_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/wall"
)

// Where goroutines spend their time, by the function that they started with.
func Example() {
	file, err := os.Open("../testdata/go1.25.1.trace.gz")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	var fold wall.Fold
	if _, err := exectrace.Read(context.Background(), file, exectrace.Options{}, &fold); err != nil {
		log.Fatal(err)
	}
	for _, g := range fold.Goroutines().Groups[:3] {
		fmt.Printf("%s: %d created\n", g.Function, g.Created)
		for _, part := range g.Parts[:2] {
			fmt.Printf("  %-8s %-12s %.3f s\n", part.What, part.Why, part.Seconds)
		}
	}
	// Output:
	// main.main: 0 created
	//   blocked  sleep        1.222 s
	//   runnable yielded      0.071 s
	// main.main.func1: 144 created
	//   runnable created      0.011 s
	//   blocked  sync         0.003 s
	// main.echo.func1: 24 created
	//   blocked  network      0.003 s
	//   runnable created      0.003 s
}
