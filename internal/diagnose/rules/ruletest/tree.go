package ruletest

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hone-go/hone/internal/gocode"
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

// treeNode is a frame below its callers.
type treeNode struct {
	line     string // as it is written, without values
	children map[string]*treeNode
	values   []int64 // nil when no stack ends here
}

// printTree writes a profile. Labels, addresses and binaries are left out.
func printTree(p *profile.Profile, code *gocode.Index) []byte {
	root := &treeNode{children: map[string]*treeNode{}}
	for row := range p.NumSamples() {
		n := root
		for _, id := range slices.Backward(p.Stack(row)) {
			l := &p.Locations[id]
			if len(l.Lines) == 0 {
				n = n.child(fmt.Sprintf("-:0 %s", mapped(p, l)))
			}
			std := false
			for i := len(l.Lines) - 1; i >= 0; i-- {
				f, line, mark := &p.Functions[l.Lines[i].Func], l.Lines[i].Line, ""
				if i == len(l.Lines)-1 {
					std = code.Owner(f.Name, f.Filename).Kind == gocode.Std
				} else if !std {
					mark = "~"
				}
				if std {
					line = 0
				}
				file := cmp.Or(code.TrimmedPath(f.Name, f.Filename), "-")
				n = n.child(fmt.Sprintf("%s:%d %s%s", file, line, mark, f.Name))
			}
		}
		if n.values == nil {
			n.values = make([]int64, len(p.SampleTypes))
		}
		for i := range p.SampleTypes {
			n.values[i] += p.Values(i)[row]
		}
	}
	var b strings.Builder
	for _, t := range p.SampleTypes {
		fmt.Fprintf(&b, "%s/%s ", t.Type, t.Unit)
	}
	fmt.Fprintf(&b, "period %s/%s %d\n", p.PeriodType.Type, p.PeriodType.Unit, p.Period)
	root.print(&b, -1)
	return []byte(b.String())
}

func mapped(p *profile.Profile, l *profile.Location) string {
	if l.Mapping >= 0 && int(l.Mapping) < len(p.Mappings) {
		if file := p.Mappings[l.Mapping].File; file != "" {
			return "[" + file[strings.LastIndexAny(file, `/\`)+1:] + "]"
		}
	}
	return "[unknown]"
}

func (n *treeNode) child(line string) *treeNode {
	c := n.children[line]
	if c == nil {
		c = &treeNode{line: line, children: map[string]*treeNode{}}
		n.children[line] = c
	}
	return c
}

func (n *treeNode) print(b *strings.Builder, depth int) {
	if depth >= 0 {
		b.WriteString(strings.Repeat(" ", depth) + n.line)
		if slices.ContainsFunc(n.values, func(v int64) bool { return v != 0 }) {
			b.WriteString(" =")
			for _, v := range n.values {
				fmt.Fprintf(b, " %d", v)
			}
		}
		b.WriteByte('\n')
	}
	for _, line := range slices.Sorted(maps.Keys(n.children)) {
		n.children[line].print(b, depth+1)
	}
}

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
