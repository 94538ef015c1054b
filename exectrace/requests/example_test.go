package requests_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests"
)

// The handlers of a server, and where their time goes.
func Example() {
	file, err := os.Open("../testdata/go1.25.1.trace.gz")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	fold := requests.New(requests.Options{Paths: true})
	if _, err := exectrace.Read(context.Background(), file, exectrace.Options{}, fold); err != nil {
		log.Fatal(err)
	}
	result := fold.Result()
	for _, route := range result.Routes {
		fmt.Println(route.Title(), route.Protocol, route.Count)
		fmt.Println("  ", requests.Spent(route.Main()))
	}
	slowest := result.Slowest[0]
	fmt.Println("the slowest:", slowest.Path.Sentence())
	// Output:
	// work task 144
	//    41 % of their time waiting for a sync.Mutex at main.go:38 (released at main.go:41), 21 % waiting for a processor after preemption, 19 % running
	// the slowest: 991 µs: 99 % main.main.func1 waiting for a processor after preemption
}
