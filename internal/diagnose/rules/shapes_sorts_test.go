package rules_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/covdata"
	"github.com/hone-go/hone/internal/diagnose/rule"
	keypercomparison "github.com/hone-go/hone/internal/diagnose/rules/key-per-comparison"
	sortforfew "github.com/hone-go/hone/internal/diagnose/rules/sort-for-few"
	sortperinsert "github.com/hone-go/hone/internal/diagnose/rules/sort-per-insert"
	sortunchanged "github.com/hone-go/hone/internal/diagnose/rules/sort-unchanged"
	splitknownparts "github.com/hone-go/hone/internal/diagnose/rules/split-known-parts"
)

// TestSortPerInsertShapes: where the list is that gets one element and is sorted.
func TestSortPerInsertShapes(t *testing.T) {
	const head = `import (
	"slices"
	"sort"
)

type byKey struct {
	m  map[string][]int
	xs []int
	in []byKey
	at *sort.IntSlice
}

func (b *byKey) Len() int           { return len(b.xs) }
func (b *byKey) Less(i, j int) bool { return b.xs[i] < b.xs[j] }
func (b *byKey) Swap(i, j int)      { b.xs[i], b.xs[j] = b.xs[j], b.xs[i] }

var _, _ = slices.Sort[[]int], sort.Ints`
	checkShapes(t, sortperinsert.Rule(), head, "slices.pdqsortOrdered[go.shape.int] slices.Sort[go.shape.[]int]", 0, []shape{
		{"func (b *byKey) F(k string, x int) {\n\txs := append(b.m[k], x)\n\tslices.Sort(xs) @\n\tb.m[k] = xs\n}", "appends one element to xs"},
		{"func (b *byKey) F(k string, x int) []int {\n\txs := append(b.m[k], x)\n\tslices.Sort(xs) @\n\treturn xs\n}", ""},
		{"func (b *byKey) F(xs []int, x int) []int {\n\tall := append(xs, x)\n\tslices.Sort(all) @\n\treturn all\n}", ""},
	})
	checkShapes(t, sortperinsert.Rule(), head, "sort.pdqsort sort.Sort", 0, []shape{
		{"func (b *byKey) F(x int) {\n\tb.xs = append(b.xs, x)\n\tsort.Sort(b) @\n}", "appends one element to b"},
		{"func (b *byKey) F(all []int) {\n\tb.xs = append(b.xs, all...)\n\tsort.Sort(b) @\n}", ""},
		{"func (b *byKey) F(x int) {\n\t*b.at = append(*b.at, x)\n\tsort.Sort(b.at) @\n}", "appends one element to b.at"},
		{"func (b *byKey) F(x int) {\n\tb.xs = append(b.xs, x)\n\tsort.Sort(b.at) @\n}", ""},
	})
}

// TestKeyPerComparisonShapes: keys that a function value computes.
func TestKeyPerComparisonShapes(t *testing.T) {
	const head = `import (
	"cmp"
	"slices"
	"strings"
)`
	checkShapes(t, keypercomparison.Rule(), head, "unicode.ToLower strings.Map strings.ToLower", 0, []shape{
		{"func F(all []string) {\n\tkey := func(s string) string {\n\t\treturn strings.ToLower(s) @ < one < slices.SortFunc[go.shape.string]\n\t}\n\tslices.SortFunc(all, func(a, b string) int {\n\t\treturn cmp.Compare(key(a), key(b)) //: one\n\t})\n}", "key(a)"},
		{"func F(all []string, s string) {\n\tkey := func() string {\n\t\treturn strings.ToLower(s) @ < two < slices.SortFunc[go.shape.string]\n\t}\n\tslices.SortFunc(all, func(a, b string) int {\n\t\treturn cmp.Compare(key(), b) //: two\n\t})\n}", ""},
	})
}

// TestSplitKnownPartsShapes: lists that another function reads, or that a helper returns.
func TestSplitKnownPartsShapes(t *testing.T) {
	const head = `import "strings"

func second(parts []string) string { return parts[1] }

func any(parts []string, i int) string { return parts[i] }

func keep(parts []string) { kept = parts }

var kept []string`
	checkShapes(t, splitknownparts.Rule(), head, "runtime.mallocgc strings.genSplit strings.Split", 64, []shape{
		{"func F(s string) string { return second(strings.Split(s, \".\")) } @", "only parts up to index 1 are used"},
		{"func F(s string, i int) string { return any(strings.Split(s, \".\"), i) } @", ""},
		{"func F(s string) { keep(strings.Split(s, \".\")) } @", ""},
		{"func F(s string) string {\n\tvar parts []string\n\tparts = strings.Split(s, \".\") @\n\treturn parts[0]\n}", "only parts up to index 0"},
		{"func F(s string) string {\n\tparts := strings.Split(s, \".\") @\n\tlast := len(parts) - 1\n\treturn parts[last]\n}", "only the last part is used"},
		{"func dots(s string) []string { return strings.Split(s, \".\") } @ < one\n\nfunc F(s string) string {\n\treturn dots(s)[0] //: one\n}", "in callers of dots only parts"},
		{"func slashes(s string) []string { return strings.Split(s, \"/\") } @ < two\n\nfunc F(s string) []string {\n\treturn slashes(s) //: two\n}", ""},
	})
}

// TestSortUnchangedShapes: where the sorted list comes from, and what only reads it.
func TestSortUnchangedShapes(t *testing.T) {
	const head = `import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
)

type metric struct {
	name string
	v    int
}

func (m *metric) key() string { return m.name }

type byName []*metric

func (b byName) Len() int           { return len(b) }
func (b byName) Less(i, j int) bool { return b[i].key() < b[j].key() }
func (b byName) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

type registry struct {
	m    map[string]*metric
	list []*metric
	hot  map[string]*metric
	pub  []*metric
	on   bool
}

func (r *registry) add(m *metric) {
	r.m[m.name] = m
	r.list = append(r.list, m)
}

func join(list []*metric) (s string) {
	for _, m := range list {
		s += m.name
	}
	return s
}

func first(list []*metric) *metric {
	all := list[:1]
	return all[0]
}

func wipe(m map[string]*metric) { rest := m; clear(rest) }

func (r *registry) all() []*metric {
	out := make([]*metric, len(r.list))
	copy(out, r.list)
	return out
}

func (r *registry) above(v int) (out []*metric) {
	for _, m := range r.list {
		if m.v > v {
			out = append(out, m)
		}
	}
	return out
}

type pair struct {
	k string
	m *metric
}

func keysOf[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

var _ = fmt.Sprint(json.Marshal, strings.Compare, cmp.Compare[int], maps.Keys[map[int]int], slices.Clone[[]int], first, wipe)`
	once := strings.Count(head, "\n") + 3
	complete := func(p *rule.Pass) {
		p.Counts = ranTimes(600, func(line int) uint64 {
			if line <= once {
				return 1
			}
			return 1000
		})
	}
	const by = "func(a, b *metric) int { return cmp.Compare(a.name, b.name) }"
	checkShapesIn(t, sortunchanged.Rule(), head, "slices.pdqsortOrdered[go.shape.string] slices.Sorted[go.shape.string]", 0, []shape{
		{"func (r *registry) F() (s string) {\n\tfor _, k := range slices.Sorted(maps.Keys(r.m)) { @\n\t\ts += r.m[k].name\n\t}\n\treturn s\n}", "sorts the keys of r.m again on every call"},
		{"func (r *registry) F() []string {\n\tkeys := slices.Sorted(maps.Keys(r.m)) @\n\treturn keys\n}", "the keys of r.m"},
		{"func (r *registry) F() []string {\n\tif r.on {\n\t\treturn slices.Sorted(maps.Keys(r.m)) @\n\t}\n\treturn nil\n}", "the keys of r.m again and again"},
		{"func (r *registry) F() string {\n\treturn join(slices.SortedFunc(maps.Values(r.m), " + by + ")) @\n}", "the values of r.m"},
		{"func (r *registry) F(m *metric) []string {\n\tr.hot[m.name] = m\n\treturn slices.Sorted(maps.Keys(r.hot)) @\n}", ""},
		{"func (r *registry) F(q string) []*metric {\n\treturn slices.SortedFunc(maps.Values(r.m), func(a, b *metric) int { return cmp.Compare(a.name+q, b.name) }) @\n}", ""},
	}, complete)
	checkShapesIn(t, sortunchanged.Rule(), head, "slices.pdqsortCmpFunc[go.shape.*uint8] slices.SortedFunc[go.shape.*uint8]", 0, []shape{
		// The order comes from the caller.
		{"func (r *registry) F() string {\n\treturn join(by_N(r.list, func(m *metric) string { return m.name })) //: c_N\n}\n\nfunc by_N[V any](all []V, key func(V) string) []V {\n\treturn slices.SortedFunc(slices.Values(all), func(a, b V) int { return cmp.Compare(key(a), key(b)) }) @ < c_N\n}", "sorts r.list again on every call"},
		{"func (r *registry) F() string {\n\treturn join(by_N(r.list, (*metric).key)) //: c_N\n}\n\nfunc by_N[V any](all []V, key func(V) string) []V {\n\treturn slices.SortedFunc(slices.Values(all), func(a, b V) int { return cmp.Compare(key(a), key(b)) }) @ < c_N\n}", "sorts r.list again on every call"},
		{"func (r *registry) F() string {\n\treturn join(by_N(r.list, " + by + ")) //: c_N\n}\n\nfunc by_N[V any](all []V, less func(a, b V) int) []V {\n\treturn slices.SortedFunc(slices.Values(all), less) @ < c_N\n}", "sorts r.list again on every call"},
		{"func (r *registry) F(q string) string {\n\treturn join(by_N(r.list, func(m *metric) string { return m.name + q })) //: c_N\n}\n\nfunc by_N[V any](all []V, key func(V) string) []V {\n\treturn slices.SortedFunc(slices.Values(all), func(a, b V) int { return cmp.Compare(key(a), key(b)) }) @ < c_N\n}", ""},
		{"func (r *registry) F(key func(*metric) string) string {\n\treturn join(by_N(r.list, key)) //: c_N\n}\n\nfunc by_N[V any](all []V, key func(V) string) []V {\n\treturn slices.SortedFunc(slices.Values(all), func(a, b V) int { return cmp.Compare(key(a), key(b)) }) @ < c_N\n}", ""},
		// The list belongs to something that the function gets, or that surrounds it.
		{"func F(r *registry) string {\n\treturn join(slices.SortedFunc(maps.Values(r.m), " + by + ")) @\n}", "the values of r.m"},
		{"type reg_N struct{ m map[string]*metric }\n\nfunc F(in map[string]*metric) string {\n\tr := &reg_N{m: in}\n\treturn join(slices.SortedFunc(maps.Values(r.m), " + by + ")) @\n}", ""},
		{"type reg_N struct{ m map[string]*metric }\n\nfunc F(r *reg_N) func() string {\n\treturn func() string {\n\t\treturn join(slices.SortedFunc(maps.Values(r.m), " + by + ")) @\n\t}\n}", "the values of r.m"},
	}, complete)
	checkShapesIn(t, sortunchanged.Rule(), head, "sort.pdqsort sort.Sort", 0, []shape{
		{"func (r *registry) F() string {\n\tall := r.all()\n\tsort.Sort(byName(all)) @\n\treturn join(all)\n}", "sorts all, made of r.list, again"},
		{"func (r *registry) F() string {\n\tvs := make(byName, 0)\n\tfor _, m := range r.m {\n\t\tvs = append(vs, m)\n\t}\n\tsort.Sort(sort.Reverse(vs)) @\n\treturn join(vs)\n}", "sorts vs, made of r.m, again"},
		{"func (r *registry) F() {\n\tsort.Sort(byName(r.pub)) @\n}", "sorts r.pub again"},
		{"func (r *registry) F(v int) string {\n\tall := r.above(v)\n\tsort.Sort(byName(all)) @\n\treturn join(all)\n}", ""},
		{"func (r *registry) F(extra *metric) string {\n\tall := r.all()\n\tall[0] = extra\n\tsort.Sort(byName(all)) @\n\treturn join(all)\n}", ""},
	}, complete)
	checkShapesIn(t, sortunchanged.Rule(), head, "slices.pdqsortCmpFunc[go.shape.*uint8] slices.SortFunc[go.shape.*uint8]", 0, []shape{
		{"func (r *registry) F() string {\n\tvar ms []*metric\n\tfor _, m := range r.list {\n\t\tif m.v >= 0 {\n\t\t\tms = append(ms, m)\n\t\t}\n\t}\n\tslices.SortFunc(ms, " + by + ") @\n\treturn join(ms)\n}", "made of r.list"},
		{"func (r *registry) F(v int) string {\n\tvar ms []*metric\n\tfor _, m := range r.list {\n\t\tif m.v >= v {\n\t\t\tms = append(ms, m)\n\t\t}\n\t}\n\tslices.SortFunc(ms, " + by + ") @\n\treturn join(ms)\n}", ""},
		{"func (r *registry) F() (s string) {\n\tvar ps []pair\n\tfor k, m := range r.m {\n\t\tps = append(ps, pair{k, m})\n\t}\n\tslices.SortFunc(ps, func(a, b pair) int { return cmp.Compare(a.k, b.k) }) @\n\treturn ps[0].k\n}", "made of r.m"},
		{"func (r *registry) F() []string {\n\treturn keysOf_N(r.m) //: c_N\n}\n\nfunc keysOf_N(m map[string]*metric) []string {\n\tkeys := make([]string, 0, len(m))\n\tfor k := range m {\n\t\tkeys = append(keys, k)\n\t}\n\tslices.SortFunc(keys, strings.Compare) @ < c_N\n\treturn keys\n}", "sorts r.m again"},
		{"func (r *registry) F(m map[string]*metric) []string {\n\treturn keysOf_N(m) //: c_N\n}\n\nfunc keysOf_N(m map[string]*metric) []string {\n\tkeys := slices.Collect(maps.Keys(m))\n\tslices.SortFunc(keys, strings.Compare) @ < c_N\n\treturn keys\n}", ""},
		// What else the program does with the list or map.
		{"type reg_N struct{ m map[string]*metric }\n\nfunc (r *reg_N) F() []string {\n\tb, _ := json.Marshal(r.m)\n\tfmt.Println(len(b), keysOf(r.m), maps.Clone(r.m))\n\tkeys := slices.Collect(maps.Keys(r.m))\n\tslices.SortFunc(keys, strings.Compare) @\n\treturn keys\n}", "made of r.m"},
		{"type reg_N struct{ list []*metric }\n\nfunc (r *reg_N) F() string {\n\tfirst(r.list)\n\tall := slices.Clone(r.list)\n\tslices.SortFunc(all, " + by + ") @\n\treturn join(r.list) + join(all)\n}", "made of r.list"},
		{"type reg_N struct{ m map[string]*metric }\n\nfunc (r *reg_N) F() []string {\n\twipe(r.m)\n\tkeys := slices.Collect(maps.Keys(r.m))\n\tslices.SortFunc(keys, strings.Compare) @\n\treturn keys\n}", ""},
		{"type reg_N struct{ m map[string]*metric }\n\nfunc (r *reg_N) F() []string {\n\tall := r.m\n\tfmt.Println(len(all))\n\tkeys := slices.Collect(maps.Keys(r.m))\n\tslices.SortFunc(keys, strings.Compare) @\n\treturn keys\n}", "made of r.m"},
		{"type reg_N struct{ m map[string]*metric }\n\nfunc (r *reg_N) F(m *metric) []string {\n\tall := r.m\n\tall[m.name] = m\n\tkeys := slices.Collect(maps.Keys(r.m))\n\tslices.SortFunc(keys, strings.Compare) @\n\treturn keys\n}", ""},
		{"type index_N map[string]*metric\n\nfunc (x index_N) put(m *metric) { x[m.name] = m }\n\ntype reg_N struct{ m index_N }\n\nfunc (r *reg_N) F(m *metric) []string {\n\tr.m.put(m)\n\tkeys := slices.Collect(maps.Keys(r.m))\n\tslices.SortFunc(keys, strings.Compare) @\n\treturn keys\n}", ""},
		{"type index_N map[string]*metric\n\nfunc (x index_N) get(name string) *metric { return x[name] }\n\ntype reg_N struct{ m index_N }\n\nfunc (r *reg_N) F() []string {\n\tfmt.Println(r.m.get(\"a\"))\n\tkeys := slices.Collect(maps.Keys(r.m))\n\tslices.SortFunc(keys, strings.Compare) @\n\treturn keys\n}", "made of r.m"},
		{"type reg_N struct{ list []*metric }\n\nfunc F(in []*metric) []*metric {\n\tvar r reg_N\n\tjson.Unmarshal(nil, &r)\n\treturn r.sorted()\n}\n\nfunc (r *reg_N) sorted() []*metric {\n\tslices.SortFunc(r.list, " + by + ") @\n\treturn r.list\n}", ""},
	}, complete)
}

// ranTimes counts executions of the first lines of a made-up program, in one unit of work.
func ranTimes(lines int, times func(line int) uint64) *counts.Index {
	return ranIn(1, lines, times)
}

// ranIn is ranTimes for a number of units of work.
func ranIn(units float64, lines int, times func(line int) uint64) *counts.Index {
	meta := &covdata.Meta{Packages: []covdata.Package{{Path: "example.com/madeup"}}}
	var ns [][]uint64
	for line := 1; line <= lines; line++ {
		meta.Packages[0].Funcs = append(meta.Packages[0].Funcs, covdata.Func{
			File:   "example.com/madeup/main.go",
			Blocks: []covdata.Block{{StartLine: line, StartColumn: 1, EndLine: line, EndColumn: 400, Statements: 1}},
		})
		ns = append(ns, []uint64{times(line)})
	}
	return counts.New(meta, []counts.Window{{Units: units, Counts: covdata.Counts{ns}}})
}

// TestSortForFewShapes: lists that sort functions return, pages, and tests.
func TestSortForFewShapes(t *testing.T) {
	const head = `import (
	"maps"
	"slices"
	"sort"
)

type top struct{ list []int }

func odd(x int) bool { return x%2 == 1 }

var tried int

func try(x int) bool { tried++; return x > 3 }

func limit(list []int, n int) []int {
	if n > len(list) {
		return list
	}
	return list[:n]
}

func sum(list []int) (s int) {
	for _, x := range list {
		s += x
	}
	return s
}

func second(list []int) int { return list[1] }

func (t *top) values() []int {
	values := make([]int, len(t.list))
	copy(values, t.list)
	return values
}

var _, _ = maps.Keys[map[int]int], sort.Ints`
	checkShapes(t, sortforfew.Rule(), head, "slices.pdqsortOrdered[go.shape.int] slices.Sorted[go.shape.int]", 0, []shape{
		{"func F(m map[int]int) int { return slices.Sorted(maps.Keys(m))[0] } @", "Range over maps.Keys(m) once"},
		{"func F(m map[int]int) int { return second(slices.Sorted(maps.Keys(m))) } @", "reads only list[1]"},
		{"func F(m map[int]int) []int {\n\tkeys := slices.Sorted(maps.Keys(m)) @\n\tif len(keys) > 10 {\n\t\tkeys = keys[:10]\n\t}\n\treturn keys\n}", "reads only keys[:10]"},
		{"func F(m map[int]int) (s int) {\n\tfor i, k := range slices.Sorted(maps.Keys(m)) { @\n\t\tif i == 5 {\n\t\t\tbreak\n\t\t}\n\t\ts += m[k]\n\t}\n\treturn s\n}", "reads only the first 5 elements"},
		{"func F(m map[int]int) int { return sum(slices.Sorted(maps.Keys(m))) } @", ""},
		{"func F(m map[int]int, i int) int { return slices.Sorted(maps.Keys(m))[i] } @", ""},
	})
	checkShapes(t, sortforfew.Rule(), head, "slices.pdqsortOrdered[go.shape.int] sort.Ints", 0, []shape{
		{"func (t *top) F() int {\n\tall := slices.Clone(t.list)\n\tsort.Ints(all) @\n\treturn all[len(all)/2]\n}", "a histogram"},
		{"func F(xs []int) int {\n\tall := slices.Clone(xs)\n\tsort.Ints(all) @\n\treturn all[len(all)/2]\n}", ""},
		{"func (t *top) F() float64 {\n\tall := append([]int(nil), t.list...)\n\tsort.Ints(all) @\n\tn := len(all)\n\tif n%2 == 0 {\n\t\treturn float64(all[n/2-1]+all[n/2]) / 2\n\t}\n\treturn float64(all[n/2])\n}", "a histogram"},
		{"func at_N(sorted []int, p float64) int {\n\ti := int(p * float64(len(sorted)-1))\n\treturn sorted[i]\n}\n\nfunc (t *top) F() (out []int) {\n\tall := make([]int, len(t.list))\n\tcopy(all, t.list)\n\tsort.Ints(all) @\n\tfor _, p := range []float64{0.5, 0.99} {\n\t\tout = append(out, at_N(all, p))\n\t}\n\treturn out\n}", "a histogram"},
		{"func (t *top) F(ps []float64) []int {\n\treturn rank_N(t.values(), ps) //: c_N\n}\n\nfunc rank_N(xs []int, ps []float64) (out []int) {\n\tn := len(xs)\n\tsort.Ints(xs) @ < c_N\n\tfor _, p := range ps {\n\t\tpos := p * float64(n+1)\n\t\tif pos < 1 {\n\t\t\tout = append(out, xs[0])\n\t\t} else if pos >= float64(n) {\n\t\t\tout = append(out, xs[n-1])\n\t\t} else {\n\t\t\tout = append(out, xs[int(pos)-1])\n\t\t}\n\t}\n\treturn out\n}", "a histogram"},
		{"func (t *top) F(ps []float64) []int {\n\tall := slices.Clone(t.list)\n\treturn rank_N(all, ps) //: c_N\n}\n\nfunc rank_N(xs []int, ps []float64) (out []int) {\n\tn := len(xs)\n\tsort.Ints(xs) @ < c_N\n\tfor _, p := range ps {\n\t\tpos := p * float64(n+1)\n\t\tif pos < 1 {\n\t\t\tout = append(out, xs[0])\n\t\t} else if pos >= float64(n) {\n\t\t\tout = append(out, xs[n-1])\n\t\t} else {\n\t\t\tout = append(out, xs[int(pos)-1])\n\t\t}\n\t}\n\treturn out\n}", "a histogram"},
		{"func F(in chan int, ps []float64) []int {\n\tvar all []int\n\tfor x := range in {\n\t\tall = append(all, x)\n\t}\n\treturn rank_N(all, ps) //: c_N\n}\n\nfunc rank_N(xs []int, ps []float64) (out []int) {\n\tn := len(xs)\n\tsort.Ints(xs) @ < c_N\n\tfor _, p := range ps {\n\t\tpos := p * float64(n+1)\n\t\tif pos < 1 {\n\t\t\tout = append(out, xs[0])\n\t\t} else if pos >= float64(n) {\n\t\t\tout = append(out, xs[n-1])\n\t\t} else {\n\t\t\tout = append(out, xs[int(pos)-1])\n\t\t}\n\t}\n\treturn out\n}", ""},
		{"func F(all []int, ps []float64) []int {\n\treturn rank_N(all, ps) //: c_N\n}\n\nfunc rank_N(xs []int, ps []float64) (out []int) {\n\tn := len(xs)\n\tsort.Ints(xs) @ < c_N\n\tfor _, p := range ps {\n\t\tpos := p * float64(n+1)\n\t\tif pos < 1 {\n\t\t\tout = append(out, xs[0])\n\t\t} else if pos >= float64(n) {\n\t\t\tout = append(out, xs[n-1])\n\t\t} else {\n\t\t\tout = append(out, xs[int(pos)-1])\n\t\t}\n\t}\n\treturn out\n}", ""},
		{"func (t *top) F() (n int) {\n\tall := slices.Clone(t.list)\n\tsort.Ints(all) @\n\tfor lo, hi := 0, len(all); lo < hi; {\n\t\tmid := (lo + hi) / 2\n\t\tn += all[mid]\n\t\tlo = mid + 1\n\t}\n\treturn n\n}", ""},
		{"func (t *top) F() (n int) {\n\tall := slices.Clone(t.list)\n\tsort.Ints(all) @\n\tfor i := range all {\n\t\tn += all[len(all)/2] - i\n\t}\n\treturn n\n}", ""},
		{"func F(xs []int, n int) (out []int) {\n\tall := slices.Clone(xs)\n\tsort.Ints(all) @\n\tfor _, x := range all {\n\t\tout = append(out, x)\n\t\tif len(out) == n {\n\t\t\treturn out\n\t\t}\n\t}\n\treturn out\n}", "reads only the first n elements"},
		{"func F(xs []int, off, n int) []int {\n\tall := slices.Clone(xs)\n\tsort.Ints(all) @\n\tif off+n > len(all) {\n\t\tn = len(all) - off\n\t}\n\treturn all[off : off+n]\n}", "reads only all[off:off + n]"},
		{"func F(xs []int, off, n int) []int {\n\tall := slices.Clone(xs)\n\tsort.Ints(all) @\n\tend := off + n\n\tif end > len(all) {\n\t\tend = len(all)\n\t}\n\treturn all[off:end]\n}", "reads only all[off:end]"},
		{"func F(xs []int, off int) []int {\n\tall := slices.Clone(xs)\n\tsort.Ints(all) @\n\treturn all[off : len(all)-1]\n}", ""},
		{"func F(xs []int) int {\n\tall := slices.Clone(xs)\n\tsort.Ints(all) @\n\tfor _, x := range all {\n\t\tif odd(x) {\n\t\t\treturn x\n\t\t}\n\t}\n\treturn 0\n}", "the first element that passes the test"},
		{"func F(xs []int) int {\n\tall := slices.Clone(xs)\n\tsort.Ints(all) @\n\tfor _, x := range all {\n\t\tif try(x) {\n\t\t\treturn x\n\t\t}\n\t}\n\treturn 0\n}", ""},
		{"func F(xs []int) int {\n\tall := slices.Clone(xs)\n\tsort.Ints(all) @\n\tfor i, x := range all {\n\t\tif odd(x) {\n\t\t\treturn i\n\t\t}\n\t}\n\treturn 0\n}", ""},
		{"func F(xs []int, n int) []int {\n\tall := slices.Clone(xs)\n\tsort.Ints(all) @\n\treturn limit(all, n)\n}", "reads only list[:n]"},
		{"func F(xs []int, n int) []int {\n\tall := slices.Clone(xs)\n\tsort.Ints(all) @\n\tif len(all) <= n {\n\t\treturn all\n\t}\n\treturn all[:n]\n}", "reads only all[:n]"},
		{"func (t *top) F(xs []int) {\n\tt.list = append(t.list[:0], xs...)\n\tsort.Ints(t.list) @\n\tif len(t.list) > 20 {\n\t\tt.list = t.list[:20]\n\t}\n}", "reads only t.list[:20]"},
		{"func (t *top) F(xs []int) {\n\tt.list = append(t.list[:0], xs...)\n\tsort.Ints(t.list) @\n}", ""},
	})
}
