package profiletest

import (
	"bytes"

	"github.com/hone-go/hone/profile"
)

// ExampleFile is a profile of 1.5 s of a program that pads strings.
func ExampleFile() *bytes.Buffer {
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	main := profile.FrameSpec{Function: "main.main", File: "main.go", Line: 5}
	b.AddLabeled([]profile.FrameSpec{
		{Function: "strings.Repeat", File: "strings.go", Line: 30, Inlined: true},
		{Function: "main.leftpad", File: "main.go", Line: 12},
		main,
	}, []profile.Label{{Key: "route", Str: "/pad"}}, 1_200_000_000)
	b.Add([]profile.FrameSpec{{Function: "main.leftpad", File: "main.go", Line: 11}, main}, 300_000_000)
	p, err := b.Profile()
	if err != nil {
		panic(err)
	}
	var file bytes.Buffer
	if err := p.Encode(&file); err != nil {
		panic(err)
	}
	return &file
}
