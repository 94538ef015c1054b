package rules_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/covdata"
	"github.com/hone-go/hone/internal/diagnose/rule"
	boxedelements "github.com/hone-go/hone/internal/diagnose/rules/boxed-elements"
	builtforpage "github.com/hone-go/hone/internal/diagnose/rules/built-for-page"
	clonetoread "github.com/hone-go/hone/internal/diagnose/rules/clone-to-read"
)

// TestCloneToReadShapes finds deep copies whose callers only read them, and no others.
func TestCloneToReadShapes(t *testing.T) {
	const head = `import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

type Boat struct {
	ID   int
	Name string
	Tags map[string]string
	Crew []string
}

func (b *Boat) rename(s string) { b.Name = s }

func (b *Boat) title() string { return strings.ToUpper(b.Name) }

func (b Boat) size() int { return len(b.Crew) }

type store struct {
	mu   sync.RWMutex
	all  []*Boat
	byID map[int]*Boat
	vals map[int]Boat
	any  sync.Map
	cur  atomic.Pointer[Boat]
	last []*Boat
}

type view struct {
	N    int
	List []*Boat
}

type lister interface{ list() []*Boat }

var fleet = map[string]*Boat{}

var pipe chan *Boat

var hook func(*Boat)

func use(string) {}

var _, _, _ = slices.Clone[[]int], maps.Clone[map[int]int], json.Marshal
var _ io.Writer
`
	// copied is a function that copies, whose line has the costs.
	const copied = "\n\nfunc (b *Boat) copied_N() *Boat {\n\tc := *b\n\tc.Tags = maps.Clone(b.Tags) @ < c_N < d_N < e_N\n\tc.Crew = slices.Clone(b.Crew)\n\treturn &c\n}"
	const list = "func (s *store) list_N() []*Boat {\n\ts.mu.RLock()\n\tdefer s.mu.RUnlock()\n\tout := make([]*Boat, 0, len(s.all))\n\tfor _, b := range s.all {\n\t\tout = append(out, b.copied_N()) //: c_N\n\t}\n\treturn out\n}\n\n"
	const end = "\n\nfunc (s *store) end_N() {\n\ts.read_N() //: e_N\n}"
	once := strings.Count(head, "\n") + 3
	complete := func(p *rule.Pass) {
		often := map[int]bool{} // the lines of the stacks
		for _, at := range p.Table.Sites {
			for _, f := range at.CPU[0].Stack {
				often[f.Line] = true
			}
		}
		p.Counts = ranTimes(3000, func(line int) uint64 {
			switch {
			case often[line]:
				return 1_000_000
			case line <= once:
				return 0
			}
			return 1000
		})
	}
	checkShapesIn(t, clonetoread.Rule(), head, "maps.Clone", 100, numbered([]shape{
		{list + "func (s *store) read_N() (n int) {\n\tfor _, b := range s.list_N() { //: d_N\n\t\tn += len(b.Tags)\n\t}\n\treturn n\n}" + copied + end, "read0 only reads the copies"},
		{list + "func (s *store) read_N() string {\n\tall := s.list_N() //: d_N\n\tslices.SortFunc(all, func(a, b *Boat) int { return a.ID - b.ID })\n\tif len(all) > 3 {\n\t\tall = all[:3]\n\t}\n\treturn all[0].title()\n}" + copied + end, "b.copied1 makes a deep copy of b"},
		{list + "func (s *store) read_N(w io.Writer) error {\n\tv := &view{List: s.list_N()} //: d_N\n\tv.N = len(v.List)\n\treturn json.NewEncoder(w).Encode(v)\n}\n\nfunc (s *store) end_N() {\n\ts.read_N(nil) //: e_N\n}" + copied, "only reads"},
		{list + "func (s *store) read_N() (n int) {\n\tbyName := map[string]*Boat{}\n\tfor _, b := range s.list_N() { //: d_N\n\t\tbyName[b.Name] = b\n\t}\n\tfor _, b := range byName {\n\t\tn += b.size()\n\t}\n\treturn n\n}" + copied + end, "only reads"},
		// By other ways to the stored values.
		{"func (s *store) get_N(id int) *Boat {\n\tif b := s.byID[id]; b != nil {\n\t\treturn b.copied_N() //: c_N\n\t}\n\treturn nil\n}\n\nfunc (s *store) read_N() string {\n\tb := s.get_N(3) //: d_N\n\tif b == nil {\n\t\treturn \"\"\n\t}\n\treturn b.Name\n}" + copied + end, "a deep copy of b, which the program keeps"},
		{"func (s *store) now_N() *Boat {\n\treturn s.cur.Load().copied_N() //: c_N\n}\n\nfunc (s *store) read_N() int {\n\treturn len(s.now_N().Tags) //: d_N\n}" + copied + end, "s.cur.Load()"},
		{"func (s *store) all_N() (out []*Boat) {\n\ts.any.Range(func(_, v any) bool {\n\t\tout = append(out, v.(*Boat).copied_N()) //: c_N\n\t\treturn true\n\t})\n\treturn out\n}\n\nfunc (s *store) read_N() int {\n\treturn len(s.all_N()) //: d_N\n}" + strings.Replace(copied, " < c_N < d_N", " < c_N < sync.(*Map).Range < d_N", 1) + end, ""},
		{"func of_N(name string) *Boat {\n\treturn fleet[name].copied_N() //: c_N\n}\n\nfunc (s *store) read_N() {\n\tuse(of_N(\"x\").Name) //: d_N\n}" + copied + end, "fleet[name]"},
		{"func (s *store) every_N() []*Boat {\n\treturn copies_N(s.all) //: c_N\n}\n\nfunc copies_N(in []*Boat) []*Boat {\n\tvar out []*Boat\n\tfor _, b := range in {\n\t\tout = append(out, b.copied_N()) //: b_N\n\t}\n\treturn out\n}\n\nfunc (s *store) read_N() (n int) {\n\tfor i, b := range s.every_N() { //: d_N\n\t\tn += i * b.ID\n\t}\n\treturn n\n}" + strings.Replace(copied, "@", "@ < b_N", 1) + end, "makes a deep copy"},
		{"func (s *store) each_N(f func(*Boat)) {\n\tfor _, b := range s.all {\n\t\tf(b.copied_N()) //: c_N\n\t}\n}\n\nfunc (s *store) read_N() (n int) {\n\ts.each_N(func(b *Boat) { n += b.ID }) //: d_N\n\treturn n\n}" + copied + end, "only reads"},
		{"func copy_N(b Boat) Boat {\n\treturn Boat{ID: b.ID, Name: b.Name, Tags: maps.Clone(b.Tags), Crew: append([]string{}, b.Crew...)} @ < c_N < d_N < e_N\n}\n\nfunc (s *store) vals_N() map[int]Boat {\n\tm := make(map[int]Boat, len(s.vals))\n\tfor k, v := range s.vals {\n\t\tm[k] = copy_N(v) //: c_N\n\t}\n\treturn m\n}\n\nfunc (s *store) read_N() (n int) {\n\tfor _, v := range s.vals_N() { //: d_N\n\t\tn += v.size()\n\t}\n\treturn n\n}" + end, "copy10 makes a deep copy of v"},
		{"func (s *store) list_N() (out []*Boat) {\n\tfor _, b := range s.all {\n\t\tc := *b\n\t\tc.Tags = maps.Clone(b.Tags) @ < d_N < e_N\n\t\tc.Crew = slices.Clone(c.Crew)\n\t\tout = append(out, &c)\n\t}\n\treturn out\n}\n\nfunc (s *store) read_N() (n int) {\n\tfor _, b := range s.list_N() { //: d_N\n\t\tn += b.size()\n\t}\n\treturn n\n}" + end, "read11 only reads"},
		{"func (s *store) list_N() (out []*Boat) {\n\tfor _, b := range s.all {\n\t\tout = append(out, &Boat{ID: b.ID, Tags: maps.Clone(b.Tags)}) @ < d_N < e_N\n\t}\n\treturn out\n}\n\nfunc (s *store) read_N() (n int) {\n\tfor _, b := range s.list_N() { //: d_N\n\t\tn += b.size()\n\t}\n\treturn n\n}" + end, "read12 only reads"},
		{list + "type lister_N interface{ list_N() []*Boat }\n\nfunc read_N(l lister_N) (n int) {\n\tfor _, b := range l.list_N() { //: d_N\n\t\tn += b.ID\n\t}\n\treturn n\n}\n\nfunc (s *store) end_N() {\n\tread_N(s) //: e_N\n}" + copied, "read13 only reads"},
		{"type shelf_N[T interface{ copied_N() T }] struct{ all []T }\n\nfunc (s *shelf_N[T]) list() (out []T) {\n\tfor _, b := range s.all {\n\t\tout = append(out, b.copied_N()) //: c_N\n\t}\n\treturn out\n}\n\nfunc read_N(s *shelf_N[*Boat]) (n int) {\n\tfor _, b := range s.list() { //: d_N\n\t\tn += b.ID\n\t}\n\treturn n\n}\n\nfunc end_N() {\n\tread_N(nil) //: e_N\n}" + copied, "read14 only reads"},
		// Not needed to read alone.
		{"func (s *store) list_N() (out []*Boat) {\n\tfor _, b := range s.all {\n\t\tc := *b\n\t\tc.Tags = maps.Clone(b.Tags) @ < d_N < e_N\n\t\tc.Name = \"x\" //: d_N\n\t\tout = append(out, &c)\n\t}\n\treturn out\n}\n\nfunc (s *store) read_N() (n int) {\n\tfor _, b := range s.list_N() {\n\t\tn += b.size()\n\t}\n\treturn n\n}" + end, ""},
		{"func (s *store) list_N() (out []*Boat) {\n\tfor _, b := range s.all {\n\t\tout = append(out, &Boat{ID: 3, Tags: maps.Clone(b.Tags)}) @ < d_N < e_N\n\t}\n\treturn out\n}\n\nfunc (s *store) read_N() (n int) {\n\tfor _, b := range s.list_N() { //: d_N\n\t\tn += b.size()\n\t}\n\treturn n\n}" + end, ""},
		{list + "func (s *store) read_N() {\n\tfor _, b := range s.list_N() { //: d_N\n\t\tb.rename(\"x\")\n\t}\n}" + copied + end, ""},
		{list + "func (s *store) read_N() {\n\tfor _, b := range s.list_N() { //: d_N\n\t\tb.Tags[\"x\"] = \"y\"\n\t}\n}" + copied + end, ""},
		{list + "func (s *store) read_N() {\n\tfor _, b := range s.list_N() { //: d_N\n\t\tt := b.Tags\n\t\tdelete(t, \"x\")\n\t}\n}" + copied + end, ""},
		{list + "func (s *store) read_N() {\n\tfor _, b := range s.list_N() { //: d_N\n\t\tslices.Sort(b.Crew)\n\t\tuse(b.Crew[0])\n\t}\n}" + copied + end, ""},
		{list + "func (s *store) read_N() {\n\ts.last = s.list_N() //: d_N\n}" + copied + end, ""},
		{list + "func (s *store) read_N() {\n\tfor _, b := range s.list_N() { //: d_N\n\t\tpipe <- b\n\t}\n}" + copied + end, ""},
		{list + "func (s *store) read_N() {\n\tfor _, b := range s.list_N() { //: d_N\n\t\thook(b)\n\t}\n}" + copied + end, ""},
		{list + "func (s *store) read_N() {\n\tfor _, b := range s.list_N() { //: d_N\n\t\tgo b.title()\n\t}\n}" + copied + end, ""},
		{list + "func (s *store) read_N() {\n\tall := s.list_N() //: d_N\n\tst := s\n\tst.last = all\n}" + copied + end, ""},
		{"func (s *store) read_N(in *Boat) string {\n\tbefore := in.copied_N() //: c_N\n\tuse(before.Name)\n\treturn before.title()\n}\n\nfunc (s *store) end_N() {\n\ts.read_N(&Boat{}) //: d_N\n}\n\nfunc (s *store) e_N() {\n\ts.end_N() //: e_N\n}" + copied, ""},
	}), complete)
	// Values that change in place as often as they are read.
	checkShapesIn(t, clonetoread.Rule(), head, "maps.Clone", 100, numbered([]shape{
		{"func (s *store) read_N() bool {\n\tb := s.all[0]\n\told := b.copied_N() //: c_N\n\tb.Name += \"x\" //: d_N\n\treturn old.Name != b.Name\n}" + copied + end, ""},
	}), complete)
}

// numbered puts a comment above each shape, for checkShapes to number instead of the first F.
func numbered(shapes []shape) []shape {
	for i := range shapes {
		shapes[i].code = "// F\n\n" + shapes[i].code
	}
	return shapes
}

// TestBoxedElementsShapes: values in lists of interfaces, where the program may choose the type.
func TestBoxedElementsShapes(t *testing.T) {
	const head = `import (
	"database/sql"
	"fmt"
	"sort"
)

type value interface{ key() int }

type pair struct{ a, b, c, d int64; name string; n, m, o, p, q int }

func (p pair) key() int { return p.n }

type grid struct {
	cells []value
	byID  map[int]value
	out   chan value
}

type row []value

func (r row) Len() int { return len(r) }

func consume([]value) {}

var db *sql.DB

var _, _ = fmt.Sprint, sort.Sort
`
	checkShapesIn(t, boxedelements.Rule(), head, "", 100, numbered([]shape{
		{"func fill_N(n int) []value {\n\tvar all []value\n\tfor i := range n {\n\t\tall = append(all, pair{n: i}) @\n\t}\n\treturn all\n}", "puts a pair into a list of value in the loop on line"},
		{"func (g *grid) fill_N(in []pair) {\n\tfor i := range in {\n\t\tg.cells[i] = in[i] @\n\t}\n}", "a list of value"},
		{"func (g *grid) fill_N(in []pair) {\n\tfor _, p := range in {\n\t\tg.byID[p.n] = p @\n\t}\n}", "a map of value"},
		{"func (g *grid) fill_N(in []pair) {\n\tfor _, p := range in {\n\t\tg.out <- p @\n\t}\n}", "a channel of value"},
		{"func fill_N(r row, in []pair) row {\n\tfor _, p := range in {\n\t\tr = append(r, p) @\n\t}\n\treturn r\n}", "a list of value"},
		{"func (g *grid) caller_N(in []pair) {\n\tfor _, p := range in {\n\t\tg.add_N(p) //: c_N\n\t}\n}\n\nfunc (g *grid) add_N(p pair) {\n\tg.cells = append(g.cells, p) @ < c_N\n}", "in the loop on line"},
		{"func caller_N(in []int64) (all []value) {\n\tfor _, x := range in {\n\t\tall = append(all, make_N(x)) //: c_N\n\t}\n\treturn all\n}\n\nfunc make_N(x int64) value {\n\tif x < 0 {\n\t\treturn nil\n\t}\n\treturn pair{a: x} @ < c_N\n}", "of caller6"},
		{"func fill_N(in []pair) {\n\tvar all []any\n\tfor _, p := range in {\n\t\tall = append(all, p) @\n\t}\n\tfor _, v := range all {\n\t\t_ = v.(pair).n\n\t}\n}", "a list of any"},
		// A function that returns values of many types, as an operator does.
		{"func caller_N(in []int64) (all []value) {\n\tfor _, x := range in {\n\t\tall = append(all, make_N(x)) //: c_N\n\t}\n\treturn all\n}\n\ntype one_N pair\n\nfunc (one_N) key() int { return 1 }\n\ntype two_N pair\n\nfunc (two_N) key() int { return 2 }\n\nfunc make_N(x int64) value {\n\tswitch {\n\tcase x < 0:\n\t\treturn one_N{a: x}\n\tcase x > 9:\n\t\treturn two_N{a: x}\n\t}\n\treturn pair{a: x} @ < c_N\n}", ""},
		// The list has to be one of interfaces, or the value fits into one.
		{"func fill_N(in []pair) {\n\tvar args []any\n\tfor _, p := range in {\n\t\targs = append(args, p) @\n\t}\n\tdb.Exec(\"x\", args...)\n}", ""},
		{"func fill_N(in []pair) []any {\n\tvar args []any\n\tfor _, p := range in {\n\t\targs = append(args, p) @\n\t}\n\treturn args\n}", ""},
		{"func fill_N(in []pair) (all []value) {\n\tfor i := range in {\n\t\tall = append(all, &in[i]) @\n\t}\n\treturn all\n}", ""},
		{"func fill_N(in []pair) (all []fmt.Stringer) {\n\tfor _, p := range in {\n\t\tall = append(all, text_N(p)) @\n\t}\n\treturn all\n}\n\ntype text_N pair\n\nfunc (t text_N) String() string { return t.name }", ""},
		{"func (g *grid) fill_N(p pair) {\n\tg.cells = append(g.cells, p) @\n}", ""},
		{"func fill_N(in []pair) (all []pair) {\n\tfor _, p := range in {\n\t\tall = append(all, p) @\n\t}\n\treturn all\n}", ""},
		{"func fill_N(in []value) (all []value) {\n\tfor _, p := range in {\n\t\tall = append(all, p) @\n\t}\n\treturn all\n}", ""},
	}), func(p *rule.Pass) {
		for _, s := range p.Table.Sites {
			p.Table.Totals.AllocObjects += s.Allocs[0].Count
		}
	})
}

// TestBuiltForPageShapes: lists of which a page, the first elements or the length are used.
func TestBuiltForPageShapes(t *testing.T) {
	const head = `import (
	"database/sql"
	"slices"
)

const perPage = 3

type card struct{ title string }

func title(n int) string { return string(rune(n)) }

func use([]card) {}

var db *sql.DB

var _ = slices.Sort[[]int]
`
	// loop builds all, of 100 elements each time.
	const loop = "\tvar all []card\n\tfor _, x := range in {\n\t\tall = append(all, card{title(x)}) @%\n\t}\n"
	const in = "func list_N(in []int) []card {\n" + loop + "\treturn all\n}\n\n"
	of := func(before, after, stack string) string {
		return before + strings.Replace(loop, "%", stack, 1) + after
	}
	through := strings.Replace(in, "%", " < c_N", 1)
	complete := func(p *rule.Pass) {
		body := map[int]bool{} // the lines with the costs, which are the bodies of loops
		for _, at := range p.Table.Sites {
			body[at.Line] = true
		}
		fn := covdata.Func{File: "example.com/madeup/main.go"}
		var ran []uint64
		for line := 1; line <= 900; line++ {
			if body[line] {
				continue
			}
			fn.Blocks = append(fn.Blocks, covdata.Block{StartLine: line, StartColumn: 1, EndLine: line, EndColumn: 20, Statements: 1})
			ran = append(ran, 1000)
			if body[line+1] {
				fn.Blocks = append(fn.Blocks, covdata.Block{StartLine: line, StartColumn: 21, EndLine: line + 1, EndColumn: 400, Statements: 1})
				ran = append(ran, 100_000)
			}
		}
		meta := &covdata.Meta{Packages: []covdata.Package{{Path: "example.com/madeup", Funcs: []covdata.Func{fn}}}}
		p.Counts = counts.New(meta, []counts.Window{{Units: 1, Counts: covdata.Counts{{ran}}}})
	}
	checkShapesIn(t, builtforpage.Rule(), head, "runtime.growslice", 100, numbered([]shape{
		{of("func f_N(in []int, n int) []card {\n", "\treturn all[n*perPage : min((n+1)*perPage, len(all))]\n}", ""), "only 3 of them are used"},
		{of("func f_N(in []int, from, n int) []card {\n", "\tend := from + n\n\tif end > len(all) {\n\t\tend = len(all)\n\t}\n\treturn all[from:end]\n}", ""), "only a page of them is used"},
		{of("func f_N(in []int) (n int) {\n", "\treturn len(all)\n}", ""), "only its length is used"},
		{of("func f_N(in []int) string {\n", "\tif len(all) == 0 {\n\t\treturn \"\"\n\t}\n\treturn all[0].title\n}", ""), "only one element is used"},
		{of("func f_N(in []int) {\n", "\tif len(all) > 5 {\n\t\tall = all[:5]\n\t}\n\tuse(all)\n}", ""), "only 5 of them are used"},
		{of("func f_N(in []int) []card {\n", "\treturn all[max(0, len(all)-4):]\n}", ""), "only 4 of them are used"},
		{"func f_N(in []int) int {\n\tall := list_N(in) //: c_N\n\treturn len(all)\n}\n\n" + through, ""},
		{"func f_N(in []int, from int) []card {\n\tall := list_N(in) //: c_N\n\tfrom = min(from, len(all))\n\treturn all[from:min(from+5, len(all))]\n}\n\n" + through, "only 5 of them are used"},
		{"func f_N(in []int) []card {\n\treturn list_N(in)[:2] //: c_N\n}\n\n" + through, "only 2 of them are used"},
		// All or most elements are used.
		{of("func f_N(in []int) []card {\n", "\treturn all\n}", ""), ""},
		{of("func f_N(in []int) []card {\n", "\treturn all[1:]\n}", ""), ""},
		{of("func f_N(in []int) []card {\n", "\treturn all[:len(all)-1]\n}", ""), ""},
		{of("func f_N(in []int) []card {\n", "\treturn all[:60]\n}", ""), ""},
		{of("func f_N(in []int, n int) []card {\n", "\treturn all[:n]\n}", ""), ""},
		{of("func f_N(in []int) {\n", "\tfor i := 0; i < len(all); i += 5 {\n\t\tuse(all[i:min(i+5, len(all))])\n\t}\n}", ""), ""},
		{of("func f_N(in []int) (n int) {\n", "\tfor _, c := range all {\n\t\tn += len(c.title)\n\t}\n\treturn n + len(all)\n}", ""), ""},
		{of("func f_N(in []int) []card {\n", "\tslices.SortFunc(all, func(a, b card) int { return len(a.title) - len(b.title) })\n\treturn all[:3]\n}", ""), ""},
		{of("func f_N(in []int) []card {\n", "\tuse(all)\n\treturn all[:3]\n}", ""), ""},
	}), complete)
}
