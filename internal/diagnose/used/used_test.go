package used_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/used"
)

// partsSource has functions with the parts of their results that are used, and the lines that are
// idle then, counted from the one of the function.
const partsSource = `package main

import (
	"fmt"
	"strings"
)

type report struct {
	total int
	text  string
	names []string
}

var last []string

func fields(list []string) report { //@ total: 4 6
	var r report
	for _, s := range list {
		r.total += len(s)
		r.text += strings.ToUpper(s)
	}
	r.names = append(r.names, strings.Join(list, ","))
	return r
}

func depends(list []string) report { //@ total: none, since one field is computed from the other
	var r report
	for _, s := range list {
		r.text += strings.ToUpper(s)
	}
	r.total = len(r.text)
	return r
}

func literal(list []string) *report { //@ total: 3
	return &report{
		total: len(list),
		text:  strings.Join(list, ","),
	}
}

func counted(list []string) []string { //@ length: 4
	var all []string
	for _, s := range list {
		if s != "" {
			all = append(all, strings.ToUpper(s))
		}
	}
	return all
}

func joined(list []string) []string { //@ length: 2 3 4
	var all []string
	for _, s := range list { all = append(all, s) }
	upper := strings.Join(all, ",")
	_ = upper
	return all
}

func second(list []string) (int, string) { //@ first: 2 6 7
	n := 0
	text := ""
	for _, s := range list {
		n, text = n+1, text+s
	}
	text = strings.ToUpper(text)
	return n, text
}

func keeps(list []string) []string { //@ length: none, since the elements stay
	var all []string
	for _, s := range list {
		all = append(all, strings.ToUpper(s))
	}
	last = all
	return all
}

func prints(list []string) report { //@ total: none, since the text is printed
	r := report{total: len(list)}
	r.text = strings.Join(list, ",")
	fmt.Println(r.text)
	return r
}

func values(name string) map[string]string { //@ keys: 2
	all := map[string]string{}
	all["upper"] = strings.ToUpper(name)
	return all
}

func main() {}
`

func TestIdle(t *testing.T) {
	for name, place := range ruletest.Places(t, partsSource) {
		parts, want, _ := strings.Cut(name, ": ")
		want, _, _ = strings.Cut(want, ",")
		var u []used.Part
		switch parts {
		case "total":
			u = []used.Part{{Fields: []string{"total"}}}
		case "length":
			u = []used.Part{{Length: true}}
		case "keys":
			u = []used.Part{{Keys: []used.Access{{}}}}
		case "first":
			u = []used.Part{{Whole: true}, {}}
		}
		got := "none"
		if idle := used.Of(nil, place, u); idle != nil {
			var lines []int
			for _, n := range idle.Nodes {
				lines = append(lines, syntax.Line(place, n.Pos())-place.Line)
			}
			slices.Sort(lines)
			got = strings.Trim(fmt.Sprint(slices.Compact(lines)), "[]")
		}
		if got != want {
			t.Errorf("%s: idle %s, want %s", name, got, want)
		}
	}
}
