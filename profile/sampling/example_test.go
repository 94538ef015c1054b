package sampling_test

import (
	"fmt"
	"log"
	"math"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/sampling"
)

// By how much chance changes the CPU time of a function that was sampled 25 times.
func Example() {
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	b.Add([]profile.FrameSpec{{Function: "main.pad"}}, 25, 250_000_000)
	p, err := b.Profile()
	if err != nil {
		log.Fatal(err)
	}
	kind, variance := sampling.Of(p, 1)
	if kind == sampling.Events {
		fmt.Printf("%d ms ± %.0f ms\n", p.Values(1)[0]/1e6, math.Sqrt(variance(0))/1e6)
	}
	// Output:
	// 250 ms ± 50 ms
}
