package concatloop

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

const program = `package main

type buffer struct{ text string }

var global string

func f(words []string, n int, m map[string]string, b *buffer, x string) (named string) {
	s, t := "", ""
	for range n {
		s += x //@ grows
		s = s + x //@ grows written out
		s = x + s //@ grows in front
		s = ("<" + s) + x //@ grows in the middle
		t = s + x //@ another string
		b.text += x //@ a field
		global += x //@ a global
		named += x //@ a result
		m["k"] += x //@ a constant key
		t = x //@ no concatenation
	}
	for _, w := range words {
		var own string
		own += w //@ declared in the loop
		m[w] += x //@ a key of the loop
		c := buffer{}
		c.text += w //@ field of a variable of the loop
	}
	for _, w := range words {
		t = ""
		for range n {
			t += w //@ reset in the outer loop
		}
	}
	for _, w := range words {
		t = w
		t += x //@ reset in the same loop
	}
	for _, w := range words {
		if w == "" {
			t = ""
		}
		t += w //@ reset now and then
	}
	for range words {
		for range 2 {
			named += x //@ short loop in a long one
		}
	}
	for i := 0; i < 2; i++ {
		named += x //@ short loop
	}
	k := 0
	for range words {
		k += n //@ a number
		named = func() string {
			y := ""
			y += x //@ in a literal
			return y
		}()
	}
	s += x //@ no loop
	for range words {
		global = global +
			x //@ over two lines
	}
	return s + t
}

func main() { f(nil, 0, nil, nil, "") }
`

func TestGrows(t *testing.T) {
	places := ruletest.Places(t, program)
	want := map[string]string{
		"grows":                           "s",
		"grows written out":               "s",
		"grows in front":                  "s",
		"grows in the middle":             "s",
		"a field":                         "b.text",
		"a global":                        "global",
		"a result":                        "named",
		"a constant key":                  `m["k"]`,
		"reset in the outer loop":         "t",
		"reset now and then":              "t",
		"short loop in a long one":        "named",
		"over two lines":                  "global",
		"another string":                  "",
		"no concatenation":                "",
		"declared in the loop":            "",
		"a key of the loop":               "",
		"field of a variable of the loop": "",
		"reset in the same loop":          "",
		"short loop":                      "",
		"a number":                        "",
		"in a literal":                    "",
		"no loop":                         "",
	}
	if len(places) != len(want) {
		t.Errorf("%d places, %d expected", len(places), len(want))
	}
	for name, p := range places {
		got := ""
		if g, ok := grows(p); ok {
			got = g.name()
			if g.prepend != (name == "grows in front" || name == "grows in the middle") {
				t.Errorf("%s: prepend %t", name, g.prepend)
			}
		}
		if got != want[name] {
			t.Errorf("%s: %q grows, want %q", name, got, want[name])
		}
	}
}
