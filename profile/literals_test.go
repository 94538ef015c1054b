package profile

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRequiredLiterals(t *testing.T) {
	for expression, want := range map[string][]string{
		`main\.`:                {"main."},
		`^main\.(A|B)$`:         {"main.A", "main.B"},
		`(flush|Type)4[0-9]\b`:  {"flush4", "Type4"},
		`(json|xml)\.`:          {"json.", "xml."},
		`a?runtime\.`:           {"aruntime.", "runtime."},
		`(runtime)+x`:           {"runtime"},
		`net/.*\.serve`:         {".serve"},
		`pkg[0-9]{2}\.`:         {"pkg"},
		`json|.*`:               nil,
		`(?i)json`:              nil,
		`.*`:                    nil,
		`a*`:                    nil,
		`(ab)?`:                 nil,
		``:                      nil,
		`[^x]`:                  nil,
		strings.Repeat("a|", 9): nil,
		`(`:                     nil,
	} {
		if got := literalsOf(expression).required; !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", expression, got, want)
		}
	}
}

func TestFirstLiterals(t *testing.T) {
	for expression, want := range map[string][]string{
		`main\.`:                      {"main."},
		`(Function|Method)1[0-9]{2}$`: {"Function1", "Method1"},
		`Type[0-9]*2\)`:               {"Type"},
		`(json|xml)+\.`:               nil,
		`(ab)+`:                       {"ab"},
		`x|y[0-9]*`:                   {"x", "y"},
		`x?[0-9]*`:                    nil,
		`^main`:                       nil, // depends on the text before
		`(flush|Type)4[0-9]\b`:        nil,
		`[0-9]*a`:                     nil,
	} {
		if got := literalsOf(expression).first; !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", expression, got, want)
		}
	}
}

// expressions draws expressions over few letters, so that they match some of the texts.
func expressions() *rapid.Generator[string] {
	leaf := rapid.SampledFrom([]string{"a", "b", "ab", "ba", "[ab]", "[^a]", ".", "^", "$", `\b`, `\B`, "", "(?i:A)", "[a-z]"})
	return rapid.Custom(func(t *rapid.T) string {
		e := leaf.Draw(t, "leaf")
		for range rapid.IntRange(0, 5).Draw(t, "steps") {
			with := leaf.Draw(t, "with")
			e = rapid.SampledFrom([]string{e + with, with + e, "(" + e + "|" + with + ")", "(" + e + ")?", "(" + e + ")*", "(" + e + ")+", "(" + e + "){2}", "(" + e + "){1,3}"}).Draw(t, "step")
		}
		return e
	})
}

func TestMatchesContainLiterals(t *testing.T) {
	texts := rapid.StringOfN(rapid.SampledFrom([]rune("abABx. ")), 0, 12, -1)
	rapid.Check(t, func(t *rapid.T) {
		expression, text := expressions().Draw(t, "expression"), texts.Draw(t, "text")
		literals, re := literalsOf(expression), regexp.MustCompile(expression)
		rest, ok := literals.rest(text)
		if want := re.MatchString(text); ok && re.MatchString(rest) != want || !ok && want {
			t.Fatalf("%q matches %q, but with %+v not", expression, text, literals)
		}
	})
}

// TestFilterMatchesEveryName compares the functions that a filter matches with those that the
// expression alone matches.
func TestFilterMatchesEveryName(t *testing.T) {
	names := rapid.StringOfN(rapid.SampledFrom([]rune("abAx")), 0, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		re := regexp.MustCompile(expressions().Draw(t, "expression"))
		p := &Profile{}
		for range rapid.IntRange(0, 8).Draw(t, "functions") {
			p.Functions = append(p.Functions, Function{Name: names.Draw(t, "name"), Filename: rapid.SampledFrom([]string{"", "a", "abba", "x"}).Draw(t, "file")})
		}
		m := p.newMatcher(re)
		for i, f := range p.Functions {
			if want := re.MatchString(f.Name) || re.MatchString(f.Filename); m.function(int32(i)) != want {
				t.Fatalf("%q on %+v: %v", re, f, !want)
			}
		}
	})
}
