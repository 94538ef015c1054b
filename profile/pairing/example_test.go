package pairing_test

import (
	"fmt"
	"log"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/pairing"
)

// Two profiles side by side, one row per function.
func Example() {
	before := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	before.Add([]profile.FrameSpec{{Function: "runtime.growslice"}, {Function: "main.pad"}, {Function: "main.main"}}, 300_000_000)
	before.Add([]profile.FrameSpec{{Function: "main.parse"}, {Function: "main.main"}}, 100_000_000)
	after := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	after.Add([]profile.FrameSpec{{Function: "main.pad"}, {Function: "main.main"}}, 50_000_000)
	after.Add([]profile.FrameSpec{{Function: "main.parse"}, {Function: "main.main"}}, 110_000_000)

	// Own charges the runtime's work to the function that causes it.
	pairs, err := pairing.New(pairing.Options{Granularity: profile.ByFunction, Measure: pairing.Own})
	if err != nil {
		log.Fatal(err)
	}
	for _, b := range []*profile.Builder{before, after} {
		p, err := b.Profile()
		if err != nil {
			log.Fatal(err)
		}
		if err := pairs.Add(p, 0); err != nil {
			log.Fatal(err)
		}
	}
	for _, row := range pairs.Table().Rows {
		fmt.Printf("%-10s %3d ms → %3d ms\n", row.Name, row.Costs[0].Value/1e6, row.Costs[1].Value/1e6)
	}
	// Output:
	// main.pad   300 ms →  50 ms
	// main.parse 100 ms → 110 ms
}
