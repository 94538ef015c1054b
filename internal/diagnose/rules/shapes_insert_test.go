package rules_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/covdata"
	"github.com/hone-go/hone/internal/diagnose/rule"
	orderedinsert "github.com/hone-go/hone/internal/diagnose/rules/ordered-insert"
	quadraticinsert "github.com/hone-go/hone/internal/diagnose/rules/quadratic-insert"
)

// TestOrderedInsertShapes: loops that find the place of an element in a list.
func TestOrderedInsertShapes(t *testing.T) {
	const head = `import (
	"cmp"
	"container/list"
	"slices"
)

type item struct {
	key  int
	next *item
}

func (x item) before(y item) bool { return x.key < y.key }

func (x *item) compare(y *item) int { return cmp.Compare(x.key, y.key) }

type queue struct {
	all   []item
	refs  []*item
	first *item
	most  int
	in    *list.List
}

type byKey []item

func (b byKey) Less(i, j int) bool { return b[i].key < b[j].key }
func (b byKey) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

var _ = slices.Insert[[]int]`
	complete := func(p *rule.Pass) {
		p.Counts = ranLoops(4000, 100)
	}
	const by = "keeps in order"
	checkShapesIn(t, orderedinsert.Rule(), head, "", 0, []shape{
		{"func (q *queue) F(x item) {\n\tq.all = append(q.all, x)\n\tfor i := len(q.all) - 1; i > 0; i-- { @\n\t\tif !x.before(q.all[i-1]) {\n\t\t\tbreak\n\t\t}\n\t\tq.all[i], q.all[i-1] = q.all[i-1], q.all[i]\n\t}\n}", by},
		{"func (q *queue) F(x item) {\n\tq.all = append(q.all, x)\n\ti := len(q.all) - 1\n\tfor i > 0 && q.all[i-1].key > x.key { @\n\t\tq.all[i] = q.all[i-1]\n\t\ti -= 1\n\t}\n\tq.all[i] = x\n\tif len(q.all) > q.most {\n\t\tq.all = q.all[:q.most]\n\t}\n}", "Keep the best q.most in a heap"},
		{"func F(b byKey, x item) byKey {\n\tb = append(b, x)\n\tfor i := len(b) - 1; i > 0 && b.Less(i, i-1); i-- { @\n\t\tb.Swap(i, i-1)\n\t}\n\treturn b\n}", by},
		{"func F(xs []item, i int) []item {\n\tfor ; i+1 < len(xs); i++ { @\n\t\txs[i] = xs[i+1]\n\t}\n\treturn xs[:len(xs)-1]\n}", ""},
		{"func F(xs []item) {\n\tfor i := range xs {\n\t\tfor j := i; j > 0 && xs[j].before(xs[j-1]); j-- { @\n\t\t\txs[j], xs[j-1] = xs[j-1], xs[j]\n\t\t}\n\t}\n}", ""},
		{"func (q *queue) F(x *item) {\n\ti := len(q.refs)\n\tfor ; i > 0; i-- {\n\t\tc := x.compare(q.refs[i-1]) @\n\t\tif c >= 0 {\n\t\t\tbreak\n\t\t}\n\t}\n\tq.refs = append(q.refs, nil)\n\tcopy(q.refs[i+1:], q.refs[i:])\n\tq.refs[i] = x\n}", by},
		{"func (q *queue) F(x item) {\n\tat := 0\n\tfor at < len(q.all) && q.all[at].key <= x.key { @\n\t\tat++\n\t}\n\tq.all = slices.Insert(q.all, at, x)\n}", by},
		{"func (q *queue) F(x item) {\n\tat := len(q.all)\n\tfor i := range q.all { @\n\t\tif x.before(q.all[i]) {\n\t\t\tat = i\n\t\t\tbreak\n\t\t}\n\t}\n\tq.all = append(q.all[:at], append([]item{x}, q.all[at:]...)...)\n}", by},
		{"func (q *queue) F(x item) bool {\n\tfor _, y := range q.all { @\n\t\tif x.before(y) {\n\t\t\treturn true\n\t\t}\n\t}\n\treturn false\n}", ""},
		{"func (q *queue) F(x, after item) {\n\tfor i, y := range q.all { @\n\t\tif y.key == after.key {\n\t\t\tq.all = slices.Insert(q.all, i, x)\n\t\t\treturn\n\t\t}\n\t}\n}", ""},
		{"func (q *queue) F(x *item) {\n\tfor e := q.in.Front(); e != nil; e = e.Next() { @\n\t\tif e.Value.(*item).key > x.key {\n\t\t\tq.in.InsertBefore(x, e)\n\t\t\treturn\n\t\t}\n\t}\n\tq.in.PushBack(x)\n}", by},
		{"func (q *queue) F(x *item) {\n\tat := &q.first\n\tfor *at != nil && (*at).key < x.key { @\n\t\tat = &(*at).next\n\t}\n\tx.next = *at\n\t*at = x\n}", "follows 100 links"},
		{"func (q *queue) F(x *item) {\n\tvar last *item\n\tat := q.first\n\tfor at != nil { @\n\t\tif at.compare(x) > 0 {\n\t\t\tbreak\n\t\t}\n\t\tlast = at\n\t\tat = at.next\n\t}\n\tx.next = at\n\tif last == nil {\n\t\tq.first = x\n\t\treturn\n\t}\n\tlast.next = x\n}", "follows 100 links"},
		{"func (q *queue) F(key int) *item {\n\tat := q.first\n\tfor at != nil && at.key < key { @\n\t\tat = at.next\n\t}\n\treturn at\n}", ""},
		{"func (q *queue) F(key int) {\n\tat := q.first\n\tfor at.next != nil && at.next.key < key { @\n\t\tat = at.next\n\t}\n\tat.next = at.next.next\n}", ""},
	}, complete)
}

// TestQuadraticInsertPieces: slices that are put together from pieces of themselves.
func TestQuadraticInsertPieces(t *testing.T) {
	const head = "import \"slices\"\n\ntype hist struct{ bins, old []int }\n\nvar all []int\n\nvar _ = slices.Clip[[]int]"
	const by = "in pieces"
	in := func(code, says string) shape {
		return shape{"func (h *hist) F(i, x int) {\n\t" + strings.ReplaceAll(code, "; ", "\n\t") + "\n}", says}
	}
	checkShapes(t, quadraticinsert.Rule(), head, "runtime.memmove", 2048, []shape{
		in("head := append(make([]int, 0), h.bins[0:i]...); head = append(head, x); tail := h.bins[i:]; h.bins = append(head, tail...) @", by),
		in("head := append(make([]int, 0), h.bins[0:i]...) @; head = append(head, x); h.bins = append(head, h.bins[i:]...)", by),
		in("head := append([]int(nil), h.bins[:i-1]...); tail := append([]int{x}, h.bins[i+1:]...) @; h.bins = append(head, tail...)", by),
		in("h.bins = append(append(append([]int{}, h.bins[:i]...), x), h.bins[i:]...) @", by),
		in("h.bins = append(append(h.bins[:i:i], x), h.bins[i:]...) @", by),
		in("h.bins = slices.Concat(h.bins[:i], []int{x}, h.bins[i:]) @", by),
		in("all = append(append(all[:i:i], x), all[i:]...) @", by),
		in("h.bins = append(append([]int{}, h.bins[:i]...), x) @", ""),
		in("head := append([]int{}, h.bins[:i]...) @; h.old = head; h.bins = h.bins[i:]", ""),
		in("h.bins = append(append([]int{}, h.old[:i]...), h.bins[i:]...) @", ""),
		in("h.old = slices.Concat(h.bins[:i], h.bins[i+1:]) @", ""),
	})
	checkShapes(t, quadraticinsert.Rule(), head, "runtime.memmove", 80, []shape{
		in("h.bins = append(append(h.bins[:i:i], x), h.bins[i:]...) @", ""),
	})
}

// TestQuadraticInsertLonger: functions that make a longer copy of a slice for each new element.
func TestQuadraticInsertLonger(t *testing.T) {
	const head = "import \"slices\"\n\ntype hist struct{ bins, old []int }\n\nvar _ = slices.Clip[[]int]"
	in := func(code, says string) shape {
		return shape{"func (h *hist) F(x int) {\n\t" + strings.ReplaceAll(code, "; ", "\n\t") + "\n}", says}
	}
	const last, first = "Append in place", "read it from its end"
	checkShapes(t, quadraticinsert.Rule(), head, "runtime.mallocgc runtime.makeslice", 2048, []shape{
		in("next := make([]int, 0, len(h.bins)+1) @; next = append(next, h.bins...); next = append(next, x); h.bins = next", last),
		in("next := make([]int, 0, len(h.bins)+1) @; next = append(next, x); for _, b := range h.bins {; next = append(next, b); }; h.bins = next", first),
		in("next := make([]int, len(h.bins)+1) @; copy(next[1:], h.bins); next[0] = x; h.bins = next", first),
		in("next := make([]int, 1+len(h.bins)) @; for i, b := range h.bins {; next[i] = b; }; next[len(h.bins)] = x; h.bins = next", last),
		in("next := make([]int, 0, len(h.bins)+1) @; next = append(next, h.bins...); next = append(next, x); h.old = next", ""),
		in("next := make([]int, 0, len(h.bins)+1) @; next = append(next, h.old...); next = append(next, x); h.bins = next", ""),
		in("next := make([]int, 0, 2*len(h.bins)) @; next = append(next, h.bins...); next = append(next, x); h.bins = next", ""),
		in("next := make([]int, 0, len(h.bins)+1) @; for _, b := range h.bins {; if b != x {; next = append(next, b); }; }; h.bins = next", ""),
		{"func front(xs []int, x int) []int { return append([]int{x}, xs...) } @ < one\n\nfunc F(n int) []int {\n\tvar all []int\n\tfor i := range n {\n\t\tall = front(all, i) //: one\n\t}\n\treturn all\n}", first},
		{"func with(xs []int, x int) []int { return append(slices.Clone(xs), x) } @ < two\n\nfunc F(n int) []int {\n\tvar all []int\n\tfor i := range n {\n\t\tall = with(all, i) //: two\n\t}\n\treturn all\n}", last},
		{"func plus(xs []int, x int) []int { return append(slices.Clone(xs), x) } @ < three\n\nfunc F(bases [][]int) (n int) {\n\tfor i, b := range bases {\n\t\tn += len(plus(b, i)) //: three\n\t}\n\treturn n\n}", ""},
	})
}

// ranLoops counts a loop on each line of a made-up program, in one unit of work.
func ranLoops(entries, iterations uint64) *counts.Index {
	meta := &covdata.Meta{Packages: []covdata.Package{{Path: "example.com/madeup"}}}
	var ns [][]uint64
	for line := 1; line <= 2000; line++ {
		meta.Packages[0].Funcs = append(meta.Packages[0].Funcs, covdata.Func{
			File: "example.com/madeup/main.go",
			Blocks: []covdata.Block{
				{StartLine: line, StartColumn: 1, EndLine: line, EndColumn: 2, Statements: 1},
				{StartLine: line, StartColumn: 3, EndLine: line + 1, EndColumn: 0, Statements: 1},
			},
		})
		ns = append(ns, []uint64{entries, entries * iterations})
	}
	return counts.New(meta, []counts.Window{{Units: 1, Counts: covdata.Counts{ns}}})
}
