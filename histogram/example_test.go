package histogram_test

import (
	"fmt"
	"time"

	"github.com/hone-go/hone/histogram"
)

func Example() {
	h := histogram.New()
	for i := range 1000 {
		h.Record(int64(i) * int64(time.Millisecond))
	}
	fmt.Println("count", h.Count())
	fmt.Println("max  ", time.Duration(h.Max()))
	fmt.Println("p99  ", time.Duration(h.Quantile(0.99)).Round(10*time.Millisecond))
	// Output:
	// count 1000
	// max   999ms
	// p99   990ms
}
