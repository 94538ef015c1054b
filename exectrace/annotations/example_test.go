package annotations_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/annotations"
)

// The tasks and regions that a program marked with runtime/trace.
func Example() {
	file, err := os.Open("../testdata/go1.25.1.trace.gz")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	var fold annotations.Fold
	if _, err := exectrace.Read(context.Background(), file, exectrace.Options{}, &fold); err != nil {
		log.Fatal(err)
	}
	r := fold.Result()
	for _, task := range r.Tasks {
		fmt.Println("task", task.Name, task.Count)
	}
	for _, region := range r.Regions {
		fmt.Println("region", region.Name, region.Count, "at", region.Line)
	}
	// Output:
	// task work 144
	// region receive 144 at main.go:37
}
