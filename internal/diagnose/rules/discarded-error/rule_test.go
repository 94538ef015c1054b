package discardederror

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// TestMadeBelow: what boxes the arguments of an error is part of creating it.
func TestMadeBelow(t *testing.T) {
	at := func(function string, line int) *site.Frame {
		return &site.Frame{Function: function, File: "find.go", Line: line, Owner: gocode.Owner{Kind: gocode.Main}}
	}
	runtime := func(function string) *site.Frame { return &site.Frame{Function: function} }
	find, has := func(line int) *site.Frame { return at("main.find", line) }, at("main.has", 18)
	s := &search{pass: &rule.Pass{}, making: map[gocode.Pos]bool{}}
	created := &site.Row{Stack: []*site.Frame{runtime("fmt.Errorf"), find(11), has}}
	s.note(created)
	for _, c := range []struct {
		what  string
		stack []*site.Frame
		want  bool
	}{
		{"the error", created.Stack, true},
		{"an argument, in the CPU profile", []*site.Frame{runtime("runtime.mallocgc"), runtime("runtime.convTslice"), find(11), has}, true},
		{"an argument, in the heap profile", []*site.Frame{find(11), has}, true},
		{"the lookup before", []*site.Frame{runtime("runtime.mapaccess2"), find(9), has}, false},
		{"a lookup on the line", []*site.Frame{runtime("runtime.mapaccess2"), find(11), has}, false},
		{"the caller's own work", []*site.Frame{has}, false},
	} {
		r := &site.Row{Stack: c.stack}
		if got := s.madeBelow(r, len(c.stack)-1); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}
