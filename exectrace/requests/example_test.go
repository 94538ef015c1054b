package requests_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests"
)

// Which handler is slow, and why its slowest requests are.
func Example() {
	file, err := os.Open("trace.out")
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
		fmt.Println(route.Name, route.Count, route.Latency.P50, route.Latency.P99)
		if route.Why != nil {
			fmt.Println(route.Why.Sentence())
		}
	}
	if len(result.Slowest) > 0 {
		fmt.Println(result.Slowest[0].Path.Sentence())
	}
}
