package failedlookahead

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestRestores: a position that is set back before nothing is returned.
func TestRestores(t *testing.T) {
	const head = `package main

type lexer struct {
	text string
	pos  int
}

func (l *lexer) position() int     { return l.pos }
func (l *lexer) setPosition(p int) { l.pos = p }
func (l *lexer) ends() bool        { l.pos++; return l.pos > len(l.text) }

func main() {}

`
	for i, c := range []struct {
		code string
		want bool
	}{
		{"func F(l *lexer) *int {\n\tat := l.position()\n\tfor !l.ends() { //@\n\t}\n\tl.setPosition(at)\n\treturn nil\n}", true},
		{"func F(l *lexer) bool {\n\tat := l.pos\n\tfor !l.ends() { //@\n\t}\n\tl.pos = at\n\treturn false\n}", true},
		{"func F(l *lexer) (int, error) {\n\tat := *l\n\tfor !l.ends() { //@\n\t}\n\t*l = at\n\treturn 0, nil\n}", true},
		{"func F(l *lexer) bool {\n\tat := l.pos\n\tfor !l.ends() { //@\n\t}\n\tl.pos = at\n\tif at > 9 {\n\t\treturn false\n\t}\n\treturn true\n}", true},
		{"func F(l *lexer) bool {\n\tat := l.pos\n\tfor !l.ends() { //@\n\t}\n\tl.pos = at\n\treturn true\n}", false},
		{"func F(l *lexer) error {\n\tat := l.pos\n\tfor !l.ends() { //@\n\t}\n\tl.pos = at\n\treturn nil\n}", false},
		{"func F(l *lexer) bool {\n\tfor !l.ends() { //@\n\t}\n\tl.pos = 0\n\treturn false\n}", false},
		{"func F(l, o *lexer) bool {\n\tat := o.pos\n\tfor !l.ends() { //@\n\t}\n\tl.pos = at\n\treturn false\n}", false},
		{"func F(l *lexer) bool {\n\tfor !l.ends() { //@\n\t}\n\treturn false\n}", false},
	} {
		p, _ := ruletest.MadeUp(t, head+strings.Replace(c.code, "//@", fmt.Sprintf("//@ %d | runtime.memmove", i), 1)+"\n")
		if got := restores(p.Place(p.Table.Sites[0])); got != c.want {
			t.Errorf("%s\n\tsets the position back: %v", c.code, got)
		}
	}
}
