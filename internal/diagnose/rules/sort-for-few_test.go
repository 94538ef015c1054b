package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/covdata"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	sortforfew "github.com/hone-go/hone/internal/diagnose/rules/sort-for-few"
)

// TestSortForFewUses: what a function does with a list after it sorted it decides whether it needs
// only a few elements, and which.
func TestSortForFewUses(t *testing.T) {
	cases := []struct {
		name, code string
		reads      string // in the cause; "" when nothing is reported
		confidence rule.Confidence
	}{
		{"slice", "return sum(list[:3])", "list[:3]", rule.Measured},
		{"parameter", "return sum(list[:n])", "list[:n]", rule.Likely},
		{"end", "return sum(list[len(list)-3:])", "list[len(list) - 3:]", rule.Measured},
		{"from zero", "return sum(list[0:3])", "list[0:3]", rule.Measured},
		{"middle", "return sum(list[3:6])", "list[3:6]", rule.Measured},
		{"half", "return sum(list[:len(list)/2])", "", ""},
		{"many", "return sum(list[:5000])", "", ""},
		{"minimum", "return sum(list[:min(len(list), 7)])", "list[:min(len(list), 7)]", rule.Measured},
		{"converted", "return sum(list[:int(wide)])", "", ""},
		{"converted limit", "return sum(list[:int(wideLimit)])", "list[:int(wideLimit)]", rule.Likely},
		{"field", "return sum(list[:conf.pageSize])", "list[:conf.pageSize]", rule.Likely},
		{"other field", "return sum(list[:conf.offset])", "", ""},
		{"global", "return sum(list[:topRows])", "list[:topRows]", rule.Likely},
		{"other global", "return sum(list[:offset])", "", ""},
		{"local", "k := 4\nif n > 9 { k = 8 }\nreturn sum(list[:k])", "list[:k]", rule.Measured},
		{"parsed", "limit, _ := strconv.Atoi(conf.text)\nreturn sum(list[:limit])", "list[:limit]", rule.Likely},
		{"written", "list[0] = 3\nreturn 0", "", ""},
		{"index", "return list[0] + list[1]", "list[0]", rule.Measured},
		{"more later", "a := list[0]\nreturn a + sum(list[:9])", "list[:9]", rule.Measured},
		{"less later", "a := sum(list[:9])\nreturn a + list[0]", "list[:9]", rule.Measured},
		{"compared", "if list == nil { return 0 }\nreturn list[0]", "list[0]", rule.Measured},
		{"passed", "return sum(list)", "", ""},
		{"loop", "s := 0\nfor i := 0; i < 5 && i < len(list); i++ { s += list[i] }\nreturn s", "the first 5 elements", rule.Measured},
		{"loop to the end", "s := 0\nfor i := 0; i < len(list); i++ { s += list[i] }\nreturn s", "", ""},
		{"loop down", "s := 0\nfor i := n; i > 0; i-- { s += list[i] }\nreturn s", "", ""},
		{"endless loop", "for i := 0; ; i++ { if list[i] > 5 { return i } }", "", ""},
		{"range", "s := 0\nfor i := range 5 { s += list[i] }\nreturn s", "the first 5 elements", rule.Measured},
		{"range over all", "s := 0\nfor i := range list { s += list[i] }\nreturn s", "", ""},
		{"outer index", "return list[n]", "", ""},
		{"break", "s := 0\nfor i, x := range list {\nif i == 6 { break }\ns += x\n}\nreturn s", "the first 6 elements", rule.Measured},
		{"break by collected", "var out []int\nfor _, x := range list {\nif len(out) >= 6 { break }\nout = append(out, x)\n}\nreturn sum(out)", "the first 6 elements", rule.Measured},
		{"break by parameter", "for _, x := range list {\nif len(times) >= 6 { break }\nn += x\n}\nreturn n", "", ""},
		{"break by value", "for _, x := range list {\nif x > 6 { break }\nn += x\n}\nreturn n", "", ""},
		{"break by text", "for i, x := range list {\nif conf.text >= \"b\" { break }\nn += x + i\n}\nreturn n", "", ""},
		{"other test", "for i, x := range list {\nif i < 6 { break }\nn += x\n}\nreturn n", "", ""},
		{"no test", "for i, x := range list {\nif i > 6 { n++ }\nn += x\n}\nreturn n", "", ""},
	}
	src := `package main

import (
	"slices"
	"sort"
	"strconv"
)

var (
	conf struct { pageSize, offset int; text string }
	topRows, offset int
	wide, wideLimit int64
)

func sum(list []int) (s int) {
	for _, x := range list { s += x }
	return s
}

`
	for i, c := range cases {
		src += fmt.Sprintf("func f%d(times []int, n int) int {\n\tlist := slices.Clone(times)\n\tsort.Ints(list) //@ %s | sort.Ints\n%s\n}\n\n", i, c.name, c.code)
	}
	src += "func main() { _ = strconv.Itoa }\n"
	p, names := ruletest.MadeUp(t, src)
	found := map[string]rule.Match{}
	for _, m := range matchesOf(t, sortforfew.Rule(), p) {
		found[names[m.Site.Line]] = m
	}
	for _, c := range cases {
		m, ok := found[c.name]
		if ok != (c.reads != "") || ok && (m.Confidence != c.confidence || !strings.Contains(m.Cause, "reads only "+c.reads+":")) {
			t.Errorf("%s: %t [%s] %s", c.name, ok, m.Confidence, m.Cause)
		}
	}
}

// TestSortForFewReturned: a list that its function returns is judged by what all callers take.
func TestSortForFewReturned(t *testing.T) {
	for calls, reads := range map[string]string{
		"_ = ranked(nil)[:3]":                           "ranked(nil)[:3]",
		"_ = ranked(nil)[0]":                            "ranked(nil)[0]",
		"_ = ranked(nil)[len(os.Args):]":                "",
		"list := ranked(nil)\n_ = list[1]":              "list[1]",
		"list := ranked(nil)\nfmt.Println(list)":        "",
		"_ = ranked(nil)[0]\nfmt.Println(ranked(nil))":  "",
		"_ = ranked(nil)[:2]\n_ = ranked(nil)[:limit]":  "ranked(nil)[:limit]",
		"f := ranked\n_ = f(nil)[0]":                    "",
		"_ = func() []int { return ranked(nil) }()[:1]": "",
	} {
		p, _ := ruletest.MadeUp(t, `package main

import (
	"fmt"
	"os"
	"slices"
	"sort"
)

var limit = len(os.Args)

func ranked(times []int) []int {
	list := slices.Clone(times)
	sort.Ints(list) //@ sort | sort.Ints
	return list
}

func main() {
	fmt.Print()
	`+calls+`
}
`)
		m := firstOf(t, sortforfew.Rule(), p)
		if (m != nil) != (reads != "") || m != nil && !strings.Contains(m.Cause, "reads only "+reads) {
			t.Errorf("%s: %+v", calls, m)
		}
	}
}

// TestSortForFewCopies: a copy that is made only to be sorted is part of the cost.
func TestSortForFewCopies(t *testing.T) {
	for value, want := range map[string]bool{
		"slices.Clone(times)":            true,
		"append([]int(nil), times...)":   true,
		"append(kept[:0], times...)":     false,
		"append(times, 1)":               false,
		"append(append(kept), times...)": true,
		"times":                          false,
		"other(times)":                   false,
	} {
		p, names := ruletest.MadeUp(t, `package main

import (
	"slices"
	"sort"
)

var kept []int

func other(list []int) []int { return slices.Sorted(slices.Values(list)) }

func least(times []int) int {
	list := `+value+` //@ copy | runtime.memmove
	sort.Ints(list) //@ sort | sort.Ints
	return list[0]
}

func main() { least(kept) }
`)
		found := map[string]bool{}
		for _, m := range matchesOf(t, sortforfew.Rule(), p) {
			found[names[m.Site.Line]] = true
		}
		if !found["sort"] || found["copy"] != want {
			t.Errorf("%s: %v", value, found)
		}
	}
}

// TestSortForFewCounts: counted comparisons show how long the list is, and what a scan would save.
func TestSortForFewCounts(t *testing.T) {
	meta := &covdata.Meta{Packages: []covdata.Package{{Path: "example.com/madeup", Funcs: []covdata.Func{
		{Name: "best", File: "example.com/madeup/main.go", Blocks: []covdata.Block{{StartLine: 8, StartColumn: 30, EndLine: 13, EndColumn: 17, Statements: 3}}},
		{Name: "best.func1", File: "example.com/madeup/main.go", Blocks: []covdata.Block{{StartLine: 10, StartColumn: 42, EndLine: 12, EndColumn: 3, Statements: 1}}},
	}}}}
	for _, c := range []struct {
		sorts, comparisons uint64
		found              bool
		says               string
	}{
		{100, 4_300_000, true, "(about 3700 elements each time)"},
		{100, 40_000, true, "(about 67 elements each time)"},
		{100, 4000, false, ""},                  // a dozen elements
		{100, 50, true, " sorts all, of which"}, // the counts do not show how many
		{0, 0, true, " sorts all, of which"},
	} {
		p, _ := ruletest.MadeUp(t, `package main

import (
	"cmp"
	"slices"
)

func best(rows []int) []int {
	all := slices.Clone(rows)
	slices.SortFunc(all, func(a, b int) int { //@ sort | slices.pdqsortCmpFunc slices.SortFunc
		return cmp.Compare(a, b)
	})
	return all[:10]
}

func main() { best(nil) }
`)
		p.Counts = counts.New(meta, []counts.Window{{Units: 1, Counts: covdata.Counts{{{c.sorts}, {c.comparisons}}}}})
		m := firstOf(t, sortforfew.Rule(), p)
		if (m != nil) != c.found || m != nil && !strings.Contains(m.Cause, c.says) {
			t.Errorf("%d comparisons: %+v", c.comparisons, m)
		}
	}
}
