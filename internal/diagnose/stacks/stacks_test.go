package stacks_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/site"
)

func row(owner int, functions ...string) *site.Row {
	r := &site.Row{Owner: owner}
	for _, f := range functions {
		r.Stack = append(r.Stack, &site.Frame{Function: f})
	}
	return r
}

func TestRows(t *testing.T) {
	r := row(3, "runtime.memmove", "runtime.concatstrings", "runtime.concatstring2", "main.pad", "main.main")
	if !stacks.Calls(r, "runtime.concatstring*") || stacks.Calls(r, "runtime.memmove") {
		t.Error("the line calls concatstring2 and nothing else")
	}
	if stacks.Leaf(r) || !stacks.Leaf(row(0, "main.pad")) {
		t.Error("Leaf")
	}
	if stacks.Callee(row(0, "main.pad")) != "" || stacks.Callee(row(-1, "runtime.gcBgMarkWorker")) != "" {
		t.Error("a leaf and a bucket's row have no callee")
	}
	for _, c := range []struct {
		patterns []string
		want     int
	}{
		{[]string{"runtime.concatstring*"}, 1},
		{[]string{"runtime.concatstring2"}, 2},
		{[]string{"main.main"}, 3},
		{nil, 3},
	} {
		if got := stacks.Depth(r, c.patterns); got != c.want {
			t.Errorf("Depth(%q) = %d, want %d", c.patterns, got, c.want)
		}
	}
}

func TestInitial(t *testing.T) {
	if !stacks.Initial(row(1, "strings.NewReplacer", "main.table", "main.init", "runtime.doInit1")) {
		t.Error("called by an initialiser")
	}
	if !stacks.Initial(row(1, "strings.NewReplacer", "main.init.func1", "main.init", "runtime.doInit1")) {
		t.Error("a literal that an initialiser calls")
	}
	if stacks.Initial(row(1, "strings.NewReplacer", "main.init.func1", "net/http.HandlerFunc.ServeHTTP")) {
		t.Error("a handler that an initialiser registers")
	}
	if stacks.Initial(row(1, "main.init", "main.table", "main.main")) || stacks.Initial(row(-1, "runtime.mcall")) {
		t.Error("not called by an initialiser")
	}
}

func TestOutermost(t *testing.T) {
	stack := []*site.Frame{{Function: "a.f"}, {Function: "b.g"}, {Function: "a.f"}, {Function: "main.main"}}
	for pattern, want := range map[string]int{"a.*": 2, "b.g": 1, "c.*": -1} {
		if got := stacks.Outermost(stack, pattern); got != want {
			t.Errorf("%s is outermost at %d, want %d", pattern, got, want)
		}
	}
}
