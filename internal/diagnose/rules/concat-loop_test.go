package rules_test

import (
	"strings"
	"testing"

	concatloop "github.com/hone-go/hone/internal/diagnose/rules/concat-loop"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

const growing = `package main

type buffer struct{ text string }

var global string

func f(words []string, n int, m map[string]string, b *buffer, x string) (named string) {
	s, t := "", ""
	for range n {
		s += x //@ grows | runtime.concatstrings
		s = s + x //@ grows written out | runtime.concatstrings
		s = x + s //@ grows in front | runtime.concatstrings
		s = ("<" + s) + x //@ grows in the middle | runtime.concatstrings
		t = s + x //@ another string | runtime.concatstrings
		b.text += x //@ a field | runtime.concatstrings
		global += x //@ a global | runtime.concatstrings
		named += x //@ a result | runtime.concatstrings
		m["k"] += x //@ a constant key | runtime.concatstrings
		t = x //@ no concatenation | runtime.concatstrings
	}
	for _, w := range words {
		var own string
		own += w //@ declared in the loop | runtime.concatstrings
		m[w] += x //@ a key of the loop | runtime.concatstrings
		c := buffer{}
		c.text += w //@ field of a variable of the loop | runtime.concatstrings
	}
	for _, w := range words {
		t = ""
		for range n {
			t += w //@ reset in the outer loop | runtime.concatstrings
		}
	}
	for _, w := range words {
		t = w
		t += x //@ reset in the same loop | runtime.concatstrings
	}
	for _, w := range words {
		if w == "" {
			t = ""
		}
		t += w //@ reset now and then | runtime.concatstrings
	}
	for range words {
		for range 2 {
			named += x //@ short loop in a long one | runtime.concatstrings
		}
	}
	for i := 0; i < 2; i++ {
		named += x //@ short loop | runtime.concatstrings
	}
	k := 0
	for range words {
		k += n //@ a number | runtime.concatstrings
		named = func() string {
			y := ""
			y += x //@ in a literal | runtime.concatstrings
			return y
		}()
	}
	s += x //@ no loop | runtime.concatstrings
	for range words {
		global = global +
			x //@ over two lines | runtime.concatstrings
	}
	return s + t
}

func main() { f(nil, 0, nil, nil, "") }
`

// TestConcatLoopGrows: a string grows if it is declared outside the loop, and the loop neither sets
// it again nor is a short one.
func TestConcatLoopGrows(t *testing.T) {
	grows := map[string]string{
		"grows":                    "s",
		"grows written out":        "s",
		"grows in front":           "s",
		"grows in the middle":      "s",
		"a field":                  "b.text",
		"a global":                 "global",
		"a result":                 "named",
		"a constant key":           `m["k"]`,
		"reset in the outer loop":  "t",
		"reset now and then":       "t",
		"short loop in a long one": "named",
		"over two lines":           "global",
	}
	p, names := ruletest.MadeUp(t, growing)
	found := map[string]bool{}
	for _, m := range matchesOf(t, concatloop.Rule(), p) {
		name := names[m.Site.Line]
		found[name] = true
		if want := grows[name]; want == "" || !strings.Contains(m.Cause, " makes "+want+" longer in every iteration") {
			t.Errorf("%s: %s", name, m.Cause)
		}
		if front := strings.HasPrefix(m.Fix, "Put the pieces before"); front != (name == "grows in front" || name == "grows in the middle") {
			t.Errorf("%s: %s", name, m.Fix)
		}
	}
	for name := range grows {
		if !found[name] {
			t.Errorf("%s: not found", name)
		}
	}
	if len(names) != 22 {
		t.Errorf("%d lines", len(names))
	}
}
