package blindspots_test

import (
	"fmt"
	"log"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/blindspots"
	"github.com/hone-go/hone/profile/report"
)

// What the figures of a profile of 250 ms of CPU leave open.
func Example() {
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	b.Add([]profile.FrameSpec{{Function: "main.pad"}}, 16, 160_000_000)
	b.Add([]profile.FrameSpec{{Function: "main.parse"}}, 9, 90_000_000)
	p, err := b.Profile()
	if err != nil {
		log.Fatal(err)
	}
	p.PeriodType, p.Period = profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, 10_000_000
	p.DurationNanos = 1_000_000_000
	v, err := report.NewView(p, report.DefaultOptions())
	if err != nil {
		log.Fatal(err)
	}
	spots := blindspots.Of(v, 90_000_000, blindspots.Surroundings{Cores: 2, CPUSeconds: 0.6})
	if s := spots.Sampling; s != nil {
		fmt.Printf("%d ms are %d samples: between %.0f and %.0f ms\n", s.Value/1e6, s.Samples, s.Bounds.Low/1e6, s.Bounds.High/1e6)
	}
	if u := spots.CPU; u != nil && u.Counted > 0 {
		fmt.Printf("the profile has %.2f s of CPU, the operating system counted %.2f s\n", u.Seconds, u.Counted)
	}
	// Output:
	// 90 ms are 9 samples: between 41 and 171 ms
	// the profile has 0.25 s of CPU, the operating system counted 0.60 s
}
