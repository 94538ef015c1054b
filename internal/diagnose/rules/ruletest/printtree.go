//go:build live

package ruletest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile"
)

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
