package rules_test

import (
	"fmt"
	"testing"

	logargsboxed "github.com/hone-go/hone/internal/diagnose/rules/log-args-boxed"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestLogArgsBoxedTests: only a logger that tests its level before it uses its arguments discards
// them.
func TestLogArgsBoxedTests(t *testing.T) {
	cases := []struct {
		name, body string // of a method debug(args ...any) of a logger
		want       bool
	}{
		{"guarded", "if l.on { l.write(args) }", true},
		{"returns first", "if !l.on { return }\nl.write(args)", true},
		{"after a count", "l.calls++\nif l.on { l.write(args) }", false},
		{"after a variable", "on := l.on\nif on { l.write(args) }", true},
		{"after a declaration", "var on = l.on\nif !on { return }\nl.write(args)", true},
		{"after a call", "l.lock()\nif l.on { l.write(args) }", true},
		{"uses them in a variable", "first := args[0]\nif l.on { l.write([]any{first}) }", false},
		{"uses them in the test", "if l.on && len(args) > 0 { l.write(args) }", false},
		{"uses them in a call", "l.count(len(args))\nif l.on { l.write(args) }", false},
		{"uses them after the test", "if l.on { l.lock() }\nl.write(args)", false},
		{"passes them on", "l.guarded(args...)", true},
		{"passes them on as a result", "_ = l.result(args...)", false},
		{"passes them on to what writes", "l.write(args)", false},
		{"passes them on, then more", "l.guarded(args...)\nl.lock()", false},
		{"by an interface", "l.next.Debug(args...)", true},
		{"by an interface, other name", "l.next.Emit(args...)", false},
		{"a loop", "for range args { l.lock() }", false},
		{"nothing", "", false},
		{"receives", "<-l.done", false},
	}
	src := `package main

import "fmt"

type sink interface {
	Debug(args ...any)
	Emit(args ...any)
}

type logger struct {
	on    bool
	calls int
	next  sink
	done  chan bool
}

func (l *logger) write(args []any) { fmt.Println(args...) }

func (l *logger) lock() {}

func (l *logger) count(n int) { l.calls += n }

func (l *logger) guarded(args ...any) {
	if l.on {
		l.write(args)
	}
}

func (l *logger) result(args ...any) int {
	l.write(args)
	return 0
}

`
	for i, c := range cases {
		src += fmt.Sprintf("func (l *logger) debug%d(args ...any) {\n%s\n}\n\nfunc f%d(l *logger, n int) {\n\tl.debug%d(\"n\", n) //@ %s | runtime.convT64\n}\n\n", i, c.body, i, i, c.name)
	}
	src += "func main() {}\n"
	p, names := ruletest.MadeUp(t, src)
	found := map[string]bool{}
	for _, m := range matchesOf(t, logargsboxed.Rule(), p) {
		found[names[m.Site.Line]] = true
	}
	for _, c := range cases {
		if found[c.name] != c.want {
			t.Errorf("%s: found %t", c.name, found[c.name])
		}
	}
}
