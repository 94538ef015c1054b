package gocode

import (
	"slices"
	"strings"
	"testing"
)

func TestFactWords(t *testing.T) {
	at := func(lines ...int) (chain []Pos) {
		for _, n := range lines {
			chain = append(chain, Pos{File: "/src/a.go", Line: n})
		}
		return chain
	}
	flow := func(line int, texts ...string) (steps []FlowStep) {
		for _, s := range texts {
			steps = append(steps, FlowStep{Pos: at(line)[0], Text: s})
		}
		return steps
	}
	for _, tc := range []struct {
		fact Fact
		want string
	}{
		{Fact{Code: "escape", Message: "make([]byte, n) escapes to heap", Chain: at(4), Flow: flow(4, "flow: {heap} = &{storage for make([]byte, n)}", "from make([]byte, n) (non-constant size)")}, "escape: make([]byte, n) escapes to heap: its size is not constant"},
		{Fact{Code: "escape", Message: "s escapes to heap", Chain: at(4), Flow: flow(9, "from return s (return)")}, "escape: s escapes to heap: returned, a.go:9"},
		{Fact{Code: "escape", Message: "v escapes to heap", Chain: at(4), Flow: flow(4, `from fmt.Sprintf("a) %s (", ... argument...) (call parameter)`, "flow: {heap} = *{temp}")}, "escape: v escapes to heap: passed to fmt.Sprintf"},
		{Fact{Code: "escape", Message: "v escapes to heap", Chain: at(4), Flow: flow(4, "from (*T).M(t, f(v)) (call parameter)")}, "escape: v escapes to heap: passed to (*T).M"},
		{Fact{Code: "escape", Message: "moved to heap: x", Chain: at(4, 7)}, "escape: moved to heap: x (in a call inlined from a.go:7)"},
		{Fact{Code: "escape", Message: "~r0 escapes to heap", Chain: at(4)}, "escape: the result of an inlined call escapes to heap"},
		{Fact{Code: "escape", Message: `"text" escapes to heap`, Chain: at(4)}, ""},
		{Fact{Code: "copy", Message: "200 bytes", Chain: at(4)}, "copy: copies 200 bytes"},
		{Fact{Code: "isInBounds", Chain: at(4)}, "bounds check: an index is checked"},
		{Fact{Code: "nilcheck", Chain: at(4)}, ""},
		{Fact{Code: "canInlineFunction", Message: "cost: 7", Chain: at(4)}, ""},
	} {
		kind, text := tc.fact.Words()
		if got := strings.TrimSuffix(kind+": "+text, ": "); got != tc.want {
			t.Errorf("%s %s:\n got %s\nwant %s", tc.fact.Code, tc.fact.Message, got, tc.want)
		}
	}
}

// TestPath: every step of a flow is printed once, with its place.
func TestPath(t *testing.T) {
	at := func(line int) Pos { return Pos{File: "/src/a.go", Line: line} }
	f := Fact{Code: "escape", Message: "moved to heap: x", Flow: []FlowStep{
		{at(3), "flow: p = &x:"}, {at(4), "from &x (address-of)"}, {at(4), "from p := &x (assign)"},
		{at(5), "flow: {heap} = p:"}, {at(6), "from keep(p, f(1)) (call parameter)"}, {at(6), "from keep(p, f(1)) (call parameter)"},
		{Pos{}, "from y (some new tag)"},
	}}
	want := []string{"its address is taken: &x, a.go:4", "it is assigned: p := &x, a.go:4", "it is passed to keep, a.go:6", "y (some new tag)"}
	if got := f.Path(); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if got := (&Fact{Code: "copy"}).Path(); got != nil {
		t.Errorf("a copy has a path: %q", got)
	}
}
