package rules_test

import (
	"testing"

	keypercomparison "github.com/hone-go/hone/internal/diagnose/rules/key-per-comparison"
	sortperinsert "github.com/hone-go/hone/internal/diagnose/rules/sort-per-insert"
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
