package regexprarelymatches

import (
	"fmt"
	"go/ast"
	"regexp"
	resyntax "regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

const (
	// leastLiteral is the minimum length of a literal, in bytes: shorter ones are in most texts.
	leastLiteral = 3
	// mostLiterals is how many literals a test may look for.
	mostLiterals = 8
)

// need is what every match of a pattern contains: at least one of some literals.
type need struct {
	literals []string
	fold     bool // in upper or lower case: they are in lower case
}

// shortest returns the length of the shortest literal.
func (n need) shortest() int {
	least := len(n.literals[0])
	for _, l := range n.literals {
		least = min(least, len(l))
	}
	return least
}

// String returns the literals for a sentence: "timeout" or "refused".
func (n need) String() string {
	quoted := make([]string, len(n.literals))
	for i, l := range n.literals {
		quoted[i] = fmt.Sprintf("%q", l)
	}
	text := strings.Join(quoted, " or ")
	if n.fold {
		text += " in upper or lower case"
	}
	return text
}

// test returns an expression that tests the text of a call.
func (n need) test(p *gocode.Place, call *ast.CallExpr) string {
	text := syntax.Text(call.Args[0])
	pkg, form := "strings", "%q"
	if !syntax.IsString(p, call.Args[0]) {
		pkg, form = "bytes", "[]byte(%q)"
	}
	if n.fold {
		text = fmt.Sprintf("%s.ToLower(%s)", pkg, text)
	}
	parts := make([]string, len(n.literals))
	for i, l := range n.literals {
		parts[i] = fmt.Sprintf("%s.Contains(%s, "+form+")", pkg, text, l)
	}
	return strings.Join(parts, " || ")
}

// required returns what every match of a pattern contains; false if there is no such literal, or if
// the engine looks for it itself.
func required(pattern string) (need, bool) {
	re, err := resyntax.Parse(pattern, resyntax.Perl)
	if err != nil {
		return need{}, false
	}
	made, err := regexp.Compile(pattern)
	if err != nil {
		return need{}, false
	}
	prefix, complete := made.LiteralPrefix()
	if complete || fixed(re) {
		return need{}, false
	}
	l := looker{prefix: prefix}
	return l.of(re)
}

// fixed reports whether a pattern matches only whole texts of a limited length, at whose start the
// engine gives up.
func fixed(re *resyntax.Regexp) bool {
	if re.Op != resyntax.OpConcat || re.Sub[0].Op != resyntax.OpBeginText {
		return false
	}
	return !repeats(re)
}

func repeats(re *resyntax.Regexp) bool {
	switch re.Op {
	case resyntax.OpStar, resyntax.OpPlus, resyntax.OpRepeat:
		return true
	}
	for _, sub := range re.Sub {
		if repeats(sub) {
			return true
		}
	}
	return false
}

// looker looks for literals that are not in the prefix that the engine searches for.
type looker struct{ prefix string }

func (l looker) of(re *resyntax.Regexp) (need, bool) {
	switch re.Op {
	case resyntax.OpLiteral:
		return l.literal(re)
	case resyntax.OpCapture, resyntax.OpPlus:
		return l.of(re.Sub[0])
	case resyntax.OpRepeat:
		if re.Min > 0 {
			return l.of(re.Sub[0])
		}
	case resyntax.OpConcat:
		return l.best(re.Sub)
	case resyntax.OpAlternate:
		return l.all(re.Sub)
	}
	return need{}, false
}

// literal returns a literal's text. In one that may be in upper or lower case, s also stands for
// U+017F, which strings.ToLower keeps, so only parts without it are used.
func (l looker) literal(re *resyntax.Regexp) (need, bool) {
	text := string(re.Rune)
	fold := re.Flags&resyntax.FoldCase != 0 && strings.ToLower(text) != strings.ToUpper(text)
	if fold {
		text = longest(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r == 's' || r >= utf8.RuneSelf }))
	}
	if len(text) < leastLiteral || strings.Contains(l.prefix, text) {
		return need{}, false
	}
	return need{literals: []string{text}, fold: fold}, true
}

func longest(parts []string) (most string) {
	for _, p := range parts {
		if len(p) > len(most) {
			most = p
		}
	}
	return most
}

// best returns the need that is cheapest to test of parts that all have to match.
func (l looker) best(parts []*resyntax.Regexp) (best need, ok bool) {
	for _, part := range parts {
		n, has := l.of(part)
		if !has {
			continue
		}
		fewer := len(n.literals) < len(best.literals)
		same := len(n.literals) == len(best.literals)
		if !ok || fewer || same && (best.fold && !n.fold || best.fold == n.fold && n.shortest() > best.shortest()) {
			best, ok = n, true
		}
	}
	return best, ok
}

// all returns what one of several alternatives needs.
func (l looker) all(alternatives []*resyntax.Regexp) (all need, ok bool) {
	for i, a := range alternatives {
		n, has := l.of(a)
		if !has || i > 0 && n.fold != all.fold {
			return need{}, false
		}
		all.literals = append(all.literals, n.literals...)
		all.fold = n.fold
	}
	return all, len(all.literals) > 0 && len(all.literals) <= mostLiterals
}
