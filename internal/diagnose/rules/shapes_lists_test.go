package rules_test

import (
	"os"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/covdata"
	"github.com/hone-go/hone/internal/diagnose/rule"
	growinglistwalked "github.com/hone-go/hone/internal/diagnose/rules/growing-list-walked"
)

// TestGrowingListWalkedShapes: loops that follow a link in a list that grows between two walks.
func TestGrowingListWalkedShapes(t *testing.T) {
	const head = `type node struct {
	n          int
	next, prev *node
	left       *node
}

type list struct{ first, last *node }

type cursor struct{ at *node }

func (l *list) push(n *node) {
	n.next = l.first //! links
	l.first = n
}

func (l *list) add(n int) { l.push(&node{n: n}) }

func (l *list) drop() { l.first = l.first.next }

func open() {}`
	const find = "func (l *list) find_N(k int) *node {\n\tfor x := l.first; x != nil; x = x.next { //! walks\n\t\tif x.n == k { @ < c_N\n\t\t\treturn x\n\t\t}\n\t}\n\treturn nil\n}"
	const build = "\n\nfunc build_N(l *list) {\n\tfor i := range 100 {\n\t\tl.push(&node{n: i})\n\t\tl.find_N(i) //: c_N\n\t}\n}"
	checkShapesIn(t, growinglistwalked.Rule(), head, "runtime.asyncPreempt", 0, numbered([]shape{
		{find + build, "find0 iterates over a linked list from node to node (next): 50 nodes on average, 100 times per run. Meanwhile, 300 nodes"},
		{find + strings.Replace(build, "push(&node{n: i})", "add(i)", 1), "Unlink the nodes"},
		{"func (c *cursor) step_N() bool {\n\tfor x := c.at.next; x != nil; x = c.at.next { //! walks\n\t\tc.at = x\n\t\tif x.n > 3 { @ < c_N < d_N\n\t\t\treturn true\n\t\t}\n\t}\n\treturn false\n}\n\nfunc look_N(l *list) bool {\n\tc := cursor{l.first}\n\treturn c.step_N() //: c_N\n}\n\nfunc end_N(l *list) {\n\tfor i := range 100 {\n\t\tl.add(i)\n\t\tlook_N(l) //: d_N\n\t}\n}", "step2 iterates"},
		{"func append_N(x, n *node) {\n\tfor x.next != nil { //! walks\n\t\tx = x.next @\n\t}\n\tx.next = n\n}", "append3 iterates"},
		// The list does not grow between two walks, or is another one.
		{find + "\n\nfunc all_N(l *list) {\n\tfor i := range 100 {\n\t\tl.push(&node{n: i})\n\t}\n\tfor i := range 100 {\n\t\tl.find_N(i) //: c_N\n\t}\n}", ""},
		{find + "\n\nfunc other_N(l, m *list) {\n\tfor i := range 100 {\n\t\tm.push(&node{n: i})\n\t\tl.find_N(i) //: c_N\n\t}\n}", ""},
		{find + "\n\nfunc fewer_N(l *list) {\n\tfor i := range 100 {\n\t\tl.drop()\n\t\tl.find_N(i) //: c_N\n\t}\n}", ""},
		// A search tree.
		{"func down_N(x, n *node) {\n\tfor x != nil { //! walks\n\t\tif x.n > n.n { @\n\t\t\tx = x.left\n\t\t\tcontinue\n\t\t}\n\t\tx = x.next\n\t}\n\tn.next = n\n}", ""},
	}), walks(50))
	// Walks of a few steps.
	checkShapesIn(t, growinglistwalked.Rule(), head, "runtime.asyncPreempt", 0, numbered([]shape{{find + build, ""}}), walks(5))
}

// walks completes a recording: each function is called 100 times for each request, and each loop
// that is marked as a walk has so many steps.
func walks(steps uint64) func(*rule.Pass) {
	return func(p *rule.Pass) {
		meta := &covdata.Meta{Packages: []covdata.Package{{Path: "example.com/madeup"}}}
		var ns [][]uint64
		code, err := os.ReadFile(p.Table.Sites[0].File)
		if err != nil {
			panic(err)
		}
		for i, line := range strings.Split(string(code), "\n") {
			f := covdata.Func{File: "example.com/madeup/main.go", Blocks: []covdata.Block{{StartLine: i + 1, StartColumn: 1, EndLine: i + 1, EndColumn: 400, Statements: 1}}}
			n := []uint64{100}
			if strings.Contains(line, "//! walks") {
				f.Blocks[0].StartLine, f.Blocks[0].EndColumn = i, 10
				f.Blocks = append(f.Blocks, covdata.Block{StartLine: i + 1, StartColumn: 20, EndLine: i + 2, EndColumn: 1, Statements: 1})
				n = append(n, 100*steps)
			}
			meta.Packages[0].Funcs, ns = append(meta.Packages[0].Funcs, f), append(ns, n)
		}
		p.Counts = counts.New(meta, []counts.Window{{Units: 1, Counts: covdata.Counts{ns}}})
	}
}
