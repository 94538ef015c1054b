package repeatedwork

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestConversions: functions that return all of their input in another form, and others that fill
// a slice.
func TestConversions(t *testing.T) {
	const src = `package main

import "unicode/utf16"

type text []uint16

func (s text) runes() []rune { //@ yes 1
	runes := make([]rune, len(s)-1)
	for i, ch := range s[1:] {
		runes[i] = rune(ch)
	}
	return runes
}

func appended(s text) []rune { //@ yes 2
	var runes []rune
	for _, ch := range s {
		runes = append(runes, rune(ch))
	}
	return runes
}

func (s text) decoded() []rune { //@ yes 3
	return utf16.Decode(s[1:])
}

type name struct{ text string }

func (n *name) letters() []rune { //@ yes 4
	return []rune(n.text)
}

func (s text) clone() text { //@ no: the caller may need one of its own
	out := make(text, len(s))
	for i, ch := range s {
		out[i] = uint16(ch)
	}
	return out
}

func (s text) doubled() []rune { //@ no: computes
	out := make([]rune, len(s))
	for i, ch := range s {
		out[i] = 2 * rune(ch)
	}
	return out
}

var shared []rune

func (s text) grown(n int) []rune { //@ no: to be filled
	return make([]rune, n)
}

func fill(s text) []rune { //@ no: of others
	for i, ch := range s {
		shared[i] = rune(ch)
	}
	return shared[:len(s)]
}

func main() {}
`
	for name, place := range ruletest.Places(t, src) {
		if got := conversionBy(place) != nil; got != strings.HasPrefix(name, "yes") {
			t.Errorf("%s: found %v", name, got)
		}
	}
}
