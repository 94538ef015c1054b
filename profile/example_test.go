package profile_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/profiletest"
	"github.com/hone-go/hone/profile/measure"
	"github.com/hone-go/hone/profile/report"
)

// Decode a profile and print where the time went.
func ExampleDecode() {
	p, err := profile.Decode(profiletest.ExampleFile(), 0)
	if err != nil {
		log.Fatal(err)
	}
	index, err := p.SampleIndex("cpu")
	if err != nil {
		log.Fatal(err)
	}
	top, err := report.Top(p, report.TopOptions{SampleIndex: index})
	if err != nil {
		log.Fatal(err)
	}
	unit := top.Unit()
	for _, r := range top.Rows {
		fmt.Printf("%6s %s %6s %s %s\n",
			measure.Format(r.Flat, top.SampleType.Unit, unit), measure.Percent(r.Flat, top.Total),
			measure.Format(r.Cum, top.SampleType.Unit, unit), measure.Percent(r.Cum, top.Total), r.Name)
	}
	// Output:
	// 1200ms 80.00% 1200ms 80.00% strings.Repeat
	//  300ms 20.00% 1500ms   100% main.leftpad
	//      0     0% 1500ms   100% main.main
}

// Read samples row by row: values are columns, a stack is a run of location indices, and a location
// has the calls inlined into it, innermost first.
func ExampleProfile_Stack() {
	p, err := profile.Decode(profiletest.ExampleFile(), 0)
	if err != nil {
		log.Fatal(err)
	}
	cpu := p.Values(0)
	var stack []int32
	for row := range p.NumSamples() {
		fmt.Print(cpu[row], p.Labels(row), ":")
		stack = p.Stack(row)
		for _, l := range stack {
			for _, line := range p.Locations[l].Lines {
				fmt.Printf(" %s:%d", p.Functions[line.Func].Name, line.Line)
			}
		}
		fmt.Println()
	}
	// Output:
	// 1200000000 [{route /pad 0 }]: strings.Repeat:30 main.leftpad:12 main.main:5
	// 300000000 []: main.leftpad:11 main.main:5
}

// Sum many profiles without keeping them all in memory.
func ExampleMerger() {
	m := profile.NewMerger()
	for range 10 {
		p, err := profile.Decode(profiletest.ExampleFile(), 0)
		if err != nil {
			log.Fatal(err)
		}
		if err := m.Add(p); err != nil {
			log.Fatal(err)
		}
	}
	sum, err := m.Profile()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sum.NumSamples(), "stacks,", measure.Format(sum.Total(0), "nanoseconds", "auto"))
	// Output: 2 stacks, 15s
}

// Create a profile, and write it for any pprof tool.
func ExampleBuilder() {
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	main := profile.FrameSpec{Function: "main.main", File: "main.go", Line: 5}
	b.AddLabeled([]profile.FrameSpec{
		{Function: "strings.Repeat", File: "strings.go", Line: 30, Inlined: true},
		{Function: "main.leftpad", File: "main.go", Line: 12},
		main,
	}, []profile.Label{{Key: "route", Str: "/pad"}}, 1_200_000_000)
	p, err := b.Profile()
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := p.Encode(&file); err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.NumSamples(), "sample,", len(p.Locations), "locations,", len(p.Functions), "functions")
	// Output: 1 sample, 2 locations, 3 functions
}
