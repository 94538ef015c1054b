package leakgrowth

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/covdata"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestMakes: the types that a line makes, also in a package variable's initialiser.
func TestMakes(t *testing.T) {
	places := ruletest.Places(t, `package main

type table struct{ run func() *entry }

type entry struct{ key string }

var service = table{
	run: func() *entry {
		return &entry{"a"} //@ variable
	},
}

func add() *entry {
	e := &entry{"b"} //@ function
	return e
}

func main() { service.run(); add() }
`)
	for _, name := range []string{"variable", "function"} {
		p, found := places[name], false
		for _, n := range makes(p) {
			found = found || n.Obj().Name() == "entry"
		}
		if !found {
			t.Errorf("%s: not found", name)
		}
	}
}

// TestIdleInsertions: of the containers that the package puts a type into, those whose lines never
// ran keep nothing of it.
func TestIdleInsertions(t *testing.T) {
	const program = `package main

type visit struct{ key string }

type book struct {
	old []*visit
	all map[string]*visit
}

func (b *book) close(v *visit) {
	b.old = append(b.old, v)
}

func (b *book) open(v *visit) {
	b.all[v.key] = v
}

func add(b *book, key string) {
	v := &visit{key} //@ add
	b.open(v)
}

func main() { add(&book{}, "a") }
`
	for _, test := range []struct {
		close, open uint64 // how often they ran
		want        string
	}{
		{0, 100, "It is put into b.all"},
		{100, 0, "It is put into b.old"},
		{0, 0, ""},
	} {
		p, names := ruletest.MadeUp(t, program)
		block := func(from, to int) covdata.Func {
			return covdata.Func{Name: "f", File: "example.com/madeup/main.go", Blocks: []covdata.Block{{StartLine: from, StartColumn: 1, EndLine: to, EndColumn: 100}}}
		}
		meta := &covdata.Meta{Packages: []covdata.Package{{Path: "example.com/madeup", Funcs: []covdata.Func{block(10, 12), block(14, 16), block(18, 21)}}}}
		p.Counts = counts.New(meta, []counts.Window{{Units: 100, Counts: covdata.Counts{{{test.close}, {test.open}, {100}}}}})
		for _, s := range p.Table.Sites {
			if names[s.Line] != "add" {
				continue
			}
			got := ""
			if k := keeper(p, s, p.Place(s)); k != nil {
				got = k.words
			}
			if (got == "") != (test.want == "") || !strings.HasPrefix(got, test.want) {
				t.Errorf("%d, %d: %q, want %q", test.close, test.open, got, test.want)
			}
		}
	}
}
