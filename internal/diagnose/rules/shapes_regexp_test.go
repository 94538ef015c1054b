package rules_test

import (
	"testing"

	regexpunanchored "github.com/hone-go/hone/internal/diagnose/rules/regexp-unanchored"
)

// TestRegexpUnanchoredShapes: a match that counts only at the start, through lists, fields,
// helpers and all forms of the test; and matches that count elsewhere.
func TestRegexpUnanchoredShapes(t *testing.T) {
	const head = `import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

var _, _, _ = bytes.Equal, fmt.Sprint, strings.Contains

var (
	word    = regexp.MustCompile("[a-z]+")
	blank   = regexp.MustCompile("\\s*")
	first   = regexp.MustCompile("^[a-z]+")
	both    = regexp.MustCompile("^a+|^b+")
	one     = regexp.MustCompile("^a+|b+")
	lines   = regexp.MustCompile("(?m)^[a-z]+")
	list    = []*regexp.Regexp{regexp.MustCompile("[a-z]+"), regexp.MustCompile("[0-9]+")}
	starts  = []*regexp.Regexp{regexp.MustCompile("^[a-z]+"), regexp.MustCompile("\\A[0-9]+")}
	byName  = map[string]*regexp.Regexp{"word": regexp.MustCompile("[a-z]+")}
	changed = []*regexp.Regexp{regexp.MustCompile("[a-z]+")}
	defs    = []def{{"word", "[a-z]+"}, {"number", "[0-9]+"}}
)

type def struct{ name, pattern string }

type token struct {
	kind string
	re   *regexp.Regexp
}

var tokens = []token{{"word", regexp.MustCompile("[a-z]+")}, {"number", regexp.MustCompile("[0-9]+")}}

type fixed struct {
	kind string
	re   *regexp.Regexp
}

func newFixed() (all []fixed) {
	for _, d := range defs {
		all = append(all, fixed{d.name, regexp.MustCompile("^(?:" + d.pattern + ")")})
	}
	return all
}

type open struct {
	kind string
	re   *regexp.Regexp
}

func newOpen() (all []open) {
	for _, d := range defs {
		all = append(all, open{d.name, regexp.MustCompile("(" + d.pattern + ")")})
	}
	return all
}

type given struct{ re *regexp.Regexp }

func newGiven(pattern string) *given { return &given{regexp.MustCompile(pattern)} }

func init() { newGiven(fmt.Sprint(1)) }

type lexer struct {
	all []*regexp.Regexp
	src string
	pos int
}

func newLexer(src string) *lexer {
	l := &lexer{src: src}
	for _, d := range defs {
		l.all = append(l.all, regexp.MustCompile(d.pattern))
	}
	return l
}

func set(p string) { changed[0] = regexp.MustCompile(p) }`
	const stack = "regexp.(*Regexp).backtrack regexp.(*Regexp).doExecute regexp.(*Regexp).FindStringIndex"
	checkShapes(t, regexpunanchored.Rule(), head, stack, 0, []shape{
		{"func F(s string) int {\n\tloc := word.FindStringIndex(s) @\n\tif loc == nil || loc[0] != 0 {\n\t\treturn 0\n\t}\n\treturn loc[1]\n}", "searches all of s"},
		{"func F(s string) int {\n\tif loc := word.FindStringIndex(s[1:]); loc != nil && loc[0] == 0 { @\n\t\treturn loc[1]\n\t}\n\treturn 0\n}", "`^(?:[a-z]+)`"},
		{"func F(s string) int {\n\tloc := word.FindStringIndex(s) @\n\tif len(loc) > 0 && loc[0] < 1 {\n\t\treturn loc[1]\n\t}\n\treturn 0\n}", "searches all of s"},
		{"func F(s string) int {\n\tloc := word.FindStringIndex(s) @\n\tif loc == nil {\n\t\treturn 0\n\t}\n\tif loc[0] > 0 {\n\t\treturn 0\n\t}\n\tend := loc[1]\n\treturn end\n}", "searches all of s"},
		{"func F(s string) (n int) {\n\tloc := word.FindStringIndex(s) @\n\tif loc != nil {\n\t\tif loc[0] == 0 {\n\t\t\tn = loc[1]\n\t\t}\n\t}\n\treturn n\n}", "searches all of s"},
		{"func F(s string) bool {\n\tloc := word.FindStringIndex(s) @\n\treturn loc != nil && loc[0] == 0\n}", "searches all of s"},
		{"func F(s string) int {\n\tloc := word.FindStringIndex(s) @\n\tswitch {\n\tcase loc != nil && loc[0] == 0 && loc[1] > 2:\n\t\treturn loc[1]\n\t}\n\treturn 0\n}", "searches all of s"},
		{"func F(s string) (n int) {\n\tfor s != \"\" {\n\t\tloc := word.FindStringIndex(s) @\n\t\tif loc == nil || loc[0] != 0 {\n\t\t\ts = s[1:]\n\t\t\tcontinue\n\t\t}\n\t\tn++\n\t\ts = s[loc[1]:]\n\t}\n\treturn n\n}", "searches all of s"},
		{"func F(s string) int {\n\tloc := word.FindStringIndex(s) @\n\tif loc == nil {\n\t\treturn 0\n\t}\n\tfrom, end := loc[0], loc[1]\n\tif from != 0 {\n\t\treturn 0\n\t}\n\treturn end\n}", "searches all of s"},
		{"func F(s string) string {\n\tm := word.FindString(s) @\n\tif m == \"\" || !strings.HasPrefix(s, m) {\n\t\treturn \"\"\n\t}\n\treturn m\n}", "searches all of s"},
		{"func F(s string) string {\n\tif m := word.FindString(s); m != \"\" && strings.Index(s, m) == 0 { @\n\t\treturn m\n\t}\n\treturn \"\"\n}", "searches all of s"},
		{"func F(s []byte) []byte {\n\tif m := word.FindSubmatch(s); m != nil && bytes.HasPrefix(s, m[0]) { @\n\t\treturn m[0]\n\t}\n\treturn nil\n}", "searches all of s"},
		{"func F(s string) string {\n\tfor _, re := range list {\n\t\tloc := re.FindStringIndex(s) @\n\t\tif loc != nil && loc[0] == 0 {\n\t\t\treturn s[:loc[1]]\n\t\t}\n\t}\n\treturn s\n}", "None of the 2 patterns"},
		{"func F(s string, i int) bool {\n\tloc := list[i].FindStringIndex(s) @\n\treturn loc != nil && loc[0] == 0\n}", "None of the 2 patterns"},
		{"func F(s string) bool {\n\tfor _, re := range byName {\n\t\tif loc := re.FindStringIndex(s); loc != nil && loc[0] == 0 { @\n\t\t\treturn true\n\t\t}\n\t}\n\treturn false\n}", "is not anchored"},
		{"func F(s string) (kind string, best int) {\n\tfor _, k := range tokens {\n\t\tloc := k.re.FindStringIndex(s) @\n\t\tif loc == nil || loc[0] != 0 {\n\t\t\tcontinue\n\t\t}\n\t\tif loc[1] > best {\n\t\t\tkind, best = k.kind, loc[1]\n\t\t}\n\t}\n\treturn kind, best\n}", "None of the 2 patterns"},
		{"func (k open) F(s string) bool {\n\tloc := k.re.FindStringIndex(s) @\n\treturn loc != nil && loc[0] == 0\n}", "None of the 2 patterns"},
		{"func (l *lexer) F() bool {\n\tfor _, re := range l.all {\n\t\tloc := re.FindStringIndex(l.src[l.pos:]) @\n\t\tif loc == nil || loc[0] > 0 {\n\t\t\tcontinue\n\t\t}\n\t\tl.pos += loc[1]\n\t\treturn true\n\t}\n\treturn false\n}", "None of the 2 patterns"},
		{"func F(s string) bool {\n\tmatch := func(re *regexp.Regexp) bool {\n\t\tloc := re.FindStringIndex(s) @\n\t\treturn loc != nil && loc[0] == 0\n\t}\n\treturn match(word) || match(lines)\n}", "None of the 2 patterns"},
		{"func F(s string) bool {\n\tloc := lines.FindStringIndex(s) @\n\treturn loc != nil && loc[0] == 0\n}", `\A(?:(?m)^[a-z]+)`},
		{"func F(s string) bool {\n\tloc := one.FindStringIndex(s) @\n\treturn loc != nil && loc[0] == 0\n}", "is not anchored"},
		{"func F(s string) int {\n\tfor _, t := range all_N {\n\t\tif loc := t.find(s); loc != nil && loc[0] == 0 {\n\t\t\treturn loc[1]\n\t\t}\n\t}\n\treturn 0\n}\n\ntype tok_N struct{ re *regexp.Regexp }\n\nvar all_N = []tok_N{{regexp.MustCompile(\"a+\")}}\n\nfunc (t tok_N) find(s string) []int {\n\treturn t.re.FindStringIndex(s) @\n}", "is not anchored"},
		{"func F(s string) int {\n\tloc := find_N(s)\n\tif loc == nil {\n\t\treturn 0\n\t}\n\treturn loc[0]\n}\n\nfunc find_N(s string) []int {\n\treturn word.FindStringIndex(s) @\n}", ""},
		// Near misses.
		{"func F(s string) bool {\n\tloc := first.FindStringIndex(s) @\n\treturn loc != nil && loc[0] == 0\n}", ""},
		{"func F(s string) bool {\n\tloc := both.FindStringIndex(s) @\n\treturn loc != nil && loc[0] == 0\n}", ""},
		{"func F(s string) bool {\n\tloc := blank.FindStringIndex(s) @\n\treturn loc != nil && loc[0] == 0\n}", ""},
		{"func F(s string) bool {\n\tfor _, re := range starts {\n\t\tif loc := re.FindStringIndex(s); loc != nil && loc[0] == 0 { @\n\t\t\treturn true\n\t\t}\n\t}\n\treturn false\n}", ""},
		{"func F(s string) bool {\n\tfor _, re := range changed {\n\t\tif loc := re.FindStringIndex(s); loc != nil && loc[0] == 0 { @\n\t\t\treturn true\n\t\t}\n\t}\n\treturn false\n}", ""},
		{"func (k fixed) F(s string) bool {\n\tloc := k.re.FindStringIndex(s) @\n\treturn loc != nil && loc[0] == 0\n}", ""},
		{"func (k *given) F(s string) bool {\n\tloc := k.re.FindStringIndex(s) @\n\treturn loc != nil && loc[0] == 0\n}", ""},
		{"func F(re *regexp.Regexp, s string) bool {\n\tloc := re.FindStringIndex(s) @\n\treturn loc != nil && loc[0] == 0\n}", ""},
		{"func F(s string) int {\n\tloc := word.FindStringIndex(s) @\n\tif loc == nil {\n\t\treturn 0\n\t}\n\treturn loc[1]\n}", ""},
		{"func F(s string) int {\n\tloc := word.FindStringIndex(s) @\n\tif loc == nil {\n\t\treturn -1\n\t}\n\tif loc[0] != 0 {\n\t\treturn 0\n\t}\n\treturn loc[1]\n}", ""},
		{"func F(s string) (int, error) {\n\tloc := word.FindStringIndex(s) @\n\tif loc == nil || loc[0] != 0 {\n\t\treturn 0, fmt.Errorf(\"next at %v\", loc)\n\t}\n\treturn loc[1], nil\n}", ""},
		{"func F(s string) string {\n\tloc := word.FindStringIndex(s) @\n\tif loc == nil {\n\t\treturn s\n\t}\n\tif loc[0] > 0 {\n\t\treturn s[:loc[0]]\n\t}\n\treturn s[loc[1]:]\n}", ""},
		{"func F(s, other string) bool {\n\tm := word.FindString(s) @\n\treturn m != \"\" && strings.HasPrefix(other, m)\n}", ""},
		{"func F(s string) bool {\n\tloc := word.FindStringIndex(s) @\n\treturn loc != nil && loc[1] == len(s)\n}", ""},
		{"func F(s string) (a []int) {\n\tloc := word.FindStringIndex(s) @\n\tif loc != nil && loc[0] == 0 {\n\t\ta = loc\n\t}\n\treturn append(a, loc...)\n}", ""},
	})
}
