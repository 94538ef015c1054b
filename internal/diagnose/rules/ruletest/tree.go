package ruletest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hone-go/hone/profile"
)

// A profile as text is the tree of its stacks, root first: a frame is a line, one space deeper than
// its caller, "~" if it was inlined there, and "=" precedes the values of the stacks that end at
// it. The first line has the sample types. Frames of the standard library have line 0, unless they
// were inlined into other code: no rule needs more, and stacks that differ only in such lines are
// one.
//
//	samples/count cpu/nanoseconds period cpu/nanoseconds 10000000
//	runtime/proc.go:0 runtime.main
//	 example.com/app/main.go:14 main.main
//	  example.com/app/main.go:7 ~main.join = 12 120000000

// parseTree reads what printTree wrote. An error names the line.
func parseTree(text string) (*profile.Profile, error) {
	head, rest, _ := strings.Cut(text, "\n")
	types, period, ok := strings.Cut(head, "period ")
	if !ok {
		return nil, fmt.Errorf("line 1: want SAMPLE TYPES period TYPE N")
	}
	var all []profile.ValueType
	for _, t := range strings.Fields(types) {
		all = append(all, valueType(t))
	}
	// Code that the compiler made for a generic type has that type's text in its file and its
	// function: with spaces, colons, and " = " between an embedded field and its type.
	fileLine, valuesOf := regexp.MustCompile(`^(.*?):(\d+) (.*)$`), regexp.MustCompile(` =(?: -?\d+)+$`)
	b := profile.NewBuilder(all...)
	var path []profile.FrameSpec // root first
	for i, line := range strings.Split(strings.TrimSuffix(rest, "\n"), "\n") {
		if line == "" {
			continue // a profile without samples
		}
		frame, values := line, ""
		at := valuesOf.FindStringIndex(line)
		if at != nil {
			frame, values = line[:at[0]], line[at[0]+len(" ="):]
		}
		depth := len(frame) - len(strings.TrimLeft(frame, " "))
		parts := fileLine.FindStringSubmatch(frame[depth:])
		if parts == nil || depth > len(path) {
			return nil, fmt.Errorf("line %d: want FILE:LINE FUNCTION, at most one deeper than the line above: %q", i+2, line)
		}
		number, err := strconv.ParseInt(parts[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err)
		}
		f := profile.FrameSpec{File: parts[1], Line: number}
		f.Function, f.Inlined = strings.CutPrefix(parts[3], "~")
		if f.File == "-" {
			f.File = ""
		}
		path = append(path[:depth], f)
		if at == nil {
			continue
		}
		var numbers []int64
		for _, v := range strings.Fields(values) {
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+2, err)
			}
			numbers = append(numbers, n)
		}
		stack := slices.Clone(path)
		slices.Reverse(stack)
		b.Add(stack, numbers...)
	}
	p, err := b.Profile()
	if err != nil {
		return nil, err
	}
	kind, n, _ := strings.Cut(period, " ")
	p.PeriodType = valueType(kind)
	if p.Period, err = strconv.ParseInt(n, 10, 64); err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	return p, nil
}

func valueType(text string) profile.ValueType {
	t, unit, _ := strings.Cut(text, "/")
	return profile.ValueType{Type: t, Unit: unit}
}
