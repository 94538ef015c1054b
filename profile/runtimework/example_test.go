package runtimework_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/runtimework"
)

// The runtime's work for lines of package main.
func Example() {
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	pad := profile.FrameSpec{Function: "main.pad", File: "pad.go", Line: 12}
	b.Add([]profile.FrameSpec{{Function: "runtime.memmove"}, {Function: "runtime.growslice"}, pad}, 200_000_000)
	b.Add([]profile.FrameSpec{{Function: "runtime.mallocgc"}, {Function: "runtime.growslice"}, pad}, 300_000_000)
	b.Add([]profile.FrameSpec{{Function: "runtime.scanobject"}, {Function: "runtime.gcDrain"}, {Function: "runtime.gcBgMarkWorker"}}, 400_000_000)
	p, err := b.Profile()
	if err != nil {
		log.Fatal(err)
	}
	work, err := runtimework.Of(p, 0, func(f profile.Function) bool { return strings.HasPrefix(f.Name, "main.") })
	if err != nil {
		log.Fatal(err)
	}
	for _, g := range work.Groups {
		fmt.Printf("%s: %d ms\n", g.Work, g.Value/1e6)
		for _, r := range g.Rows {
			if r.Name == "" {
				fmt.Println("  in the background")
				continue
			}
			fmt.Printf("  %s, %s:%d\n", r.Name, r.File, r.Line)
		}
	}
	// Output:
	// garbage collection: 400 ms
	//   in the background
	// allocation: 300 ms
	//   main.pad, pad.go:12
	// copying: 200 ms
	//   main.pad, pad.go:12
}
