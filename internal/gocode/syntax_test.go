package gocode

import (
	"context"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const queryModule = `
-- go.mod --
module example.com/q
go 1.26
-- q.go --
package q

import (
	"fmt"
	"io"
	"log"
	"sort"
	"strings"
	"sync/atomic"
)

const limit = 10

type (
	limits struct{ most, least int }
	other  limits
)

func set(l *limits) []limits {
	l.most, l.least = 4, 1
	return []limits{{most: 3, least: 2}, {5, 6}}
}

func setFirst(l limits) *limits {
	l.most = 5
	return &limits{least: l.most}
}

var table = strings.NewReplacer("a", "b") // initialiser

func pad(s string, n int, c rune) string {
	for len(s) < n { // head
		s = string(c) + s // body
	}
	return s
}

func oneLine(s string, n int) string {
	for len(s) < n { s = "x" + s } // one line
	return s
}

func ranged(w io.Writer, l *log.Logger, xs []string) {
	for _, x := range strings.Fields(xs[0]) { // range head
		w.Write([]byte(x))              // interface
		l.Printf("%s %d", x, limit)     // method
		func() {
			fmt.Println(x) // literal
		}()
	}
	sort.Slice(xs, func(i, j int) bool { return xs[i] < xs[j] }) // one-line literal
	strings.NewReplacer(
		"a", "b",
	).Replace( // chain
		xs[0])
	var n atomic.Int64
	n.Add(1) // atomic
	generic[int](3) // generic
	_ = append(xs, "x") // builtin
}

func generic[T any](t T) {}
-- q_test.go --
package q

import "testing"

func BenchmarkPad(b *testing.B) {
	for b.Loop() { pad("a", 5, 'x') } // bench
}
-- x_test.go --
package q_test

import "testing"

func TestX(t *testing.T) {
	t.Log("x") // external
}
-- broken/b.go --
package broken

func f() string { return 1 } // type error
`

func TestSyntaxQueries(t *testing.T) {
	dir := unpack(t, queryModule)
	file := filepath.Join(dir, "q.go")
	x := open(t, Config{Dir: dir, ImportPath: "example.com/q"})
	s, err := x.Syntax(context.Background(), []string{"example.com/q", "example.com/q/broken", "example.com/q/none"})
	if err != nil {
		t.Fatal(err)
	}
	have, lacking := s.Packages()
	if !slices.Equal(have, []string{"example.com/q", "example.com/q/broken"}) {
		t.Errorf("have syntax of %v", have)
	}
	if !strings.Contains(lacking["example.com/q/broken"], "cannot use 1") || lacking["example.com/q/none"] == "" {
		t.Errorf("lacking = %v", lacking)
	}
	var called []int
	for _, p := range s.CallsOf("(*strings.Replacer).Replace") {
		called = append(called, p.Line)
	}
	if !slices.Equal(called, []int{lineOf(t, file, `"a", "b",`) - 1}) || len(s.CallsOf("strings.Repeat")) > 0 {
		t.Errorf("Replace is called on lines %v", called)
	}
	var values []string
	for _, v := range s.ValuesOf("example.com/q.limits", "most") {
		values = append(values, types.ExprString(v.Value))
	}
	if !slices.Equal(values, []string{"4", "3", "5", "5"}) || len(s.ValuesOf("example.com/q.other", "most")) > 0 {
		t.Errorf("values of most: %v", values)
	}
	at := func(mark string) *Place {
		t.Helper()
		p, ok := s.At(file, lineOf(t, file, mark))
		if !ok {
			t.Fatalf("no syntax at the line with %q", mark)
		}
		return p
	}
	for _, c := range []struct {
		mark  string
		calls string
		loop  bool
		fn    string // name of the declaration, "" in an initialiser
		lit   bool
	}{
		{"// initialiser", "strings.NewReplacer", false, "", false},
		{"// head", "len", true, "pad", false},
		{"// body", "", true, "pad", false}, // a conversion
		{"return s", "", false, "pad", false},
		{"// one line", "len", true, "oneLine", false},
		{"// range head", "strings.Fields", false, "ranged", false},
		{"// interface", "(io.Writer).Write ", true, "ranged", false},
		{"// method", "(*log.Logger).Printf", true, "ranged", false},
		{"// literal", "fmt.Println", false, "ranged", true},
		{"// one-line literal", "sort.Slice", false, "ranged", false},
		{"// chain", "(*strings.Replacer).Replace strings.NewReplacer", false, "ranged", false},
		{"// atomic", "(*sync/atomic.Int64).Add", false, "ranged", false},
		{"// generic", "example.com/q.generic", false, "ranged", false},
		{"// builtin", "append", false, "ranged", false},
	} {
		t.Run(c.mark, func(t *testing.T) {
			p := at(c.mark)
			var names []string
			for _, call := range p.Calls() {
				names = append(names, p.CalleeName(call))
			}
			if got := strings.Join(names, " "); got != c.calls {
				t.Errorf("calls %q, want %q", got, c.calls)
			}
			if got := p.Loop() != nil; got != c.loop {
				t.Errorf("in a loop: %v, want %v", got, c.loop)
			}
			name := ""
			if p.Decl != nil {
				name = p.Decl.Name.Name
			}
			if _, lit := p.Func.(*ast.FuncLit); name != c.fn || lit != c.lit {
				t.Errorf("in %q, literal %v; want %q, %v", name, lit, c.fn, c.lit)
			}
			for _, n := range p.Nodes {
				up := p.Enclosing(n)
				if len(up) == 0 || up[len(up)-1] != p.root {
					t.Fatalf("path around %T ends at %v", n, up)
				}
				for i, outer := range up {
					if !holds(outer, n) || i > 0 && !holds(outer, up[i-1]) {
						t.Fatalf("path around %T is not nested at %d", n, i)
					}
				}
			}
		})
	}

	p := at("// method")
	call := p.Calls()[0]
	if v, ok := p.Const(call.Args[2]); !ok || !constant.Compare(v, token.EQL, constant.MakeInt64(10)) {
		t.Errorf("limit is %v, %v", v, ok)
	}
	if got := p.TypeOf(call.Args[1]).String(); got != "string" {
		t.Errorf("x is a %s", got)
	}
	if obj := p.Object(call.Args[1].(*ast.Ident)); obj == nil || obj.Name() != "x" {
		t.Errorf("x is %v", obj)
	}
	if p.Callee(call).Pkg().Path() != "log" || p.LoopAround(call) == nil {
		t.Error("the call of a log method in a loop is not seen as such")
	}
	conv := at("// body").Calls()[0]
	if typ, ok := at("// body").Conversion(conv); !ok || typ.String() != "string" {
		t.Errorf("string(c) converts to %v, %v", typ, ok)
	}
	if p := at("// range head"); p.LoopAround(p.Calls()[0]) != nil {
		t.Error("what is ranged over is not evaluated in the loop")
	}
	if _, ok := s.At(filepath.Join(dir, "other.go"), 3); ok {
		t.Error("syntax of a file that is not there")
	}
	if _, ok := s.At(file, 2); ok {
		t.Error("syntax at an empty line between declarations")
	}
	if _, ok := s.At("example.com/q/q.go", lineOf(t, file, "// body")); !ok {
		t.Error("the file as -trimpath names it is not found")
	}
}

func TestSyntaxOfTests(t *testing.T) {
	dir := unpack(t, queryModule)
	x := open(t, Config{Dir: dir, ImportPath: "example.com/q", Test: true})
	s, err := x.Syntax(context.Background(), []string{"example.com/q"})
	if err != nil {
		t.Fatal(err)
	}
	for file, c := range map[string]struct{ mark, call string }{
		"q.go":      {"// method", "(*log.Logger).Printf"},
		"q_test.go": {"// bench", "example.com/q.pad"},
		"x_test.go": {"// external", "(*testing.common).Log"},
	} {
		file = filepath.Join(dir, file)
		p, ok := s.At(file, lineOf(t, file, c.mark))
		if !ok {
			t.Errorf("no syntax of %s", file)
			continue
		}
		found := false
		for _, call := range p.Calls() {
			found = found || p.CalleeName(call) == c.call
		}
		if !found {
			t.Errorf("%s: no call of %s", file, c.call)
		}
	}
}

func TestSyntaxWithoutSources(t *testing.T) {
	s, err := open(t, Config{BuildInfo: appInfo}).Syntax(context.Background(), []string{"example.com/app"})
	if err != nil {
		t.Fatal(err)
	}
	if _, lacking := s.Packages(); lacking["example.com/app"] == "" {
		t.Error("no reason for the lack of syntax")
	}
	if _, ok := s.At("example.com/app/app.go", 1); ok {
		t.Error("syntax out of nothing")
	}
}
