package regexpofcharacters

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// askers are the methods of a Regexp that test a text, replacers and splitters those that change or
// split it.
var (
	askers    = []string{"MatchString", "Match", "FindString"}
	replacers = []string{"ReplaceAllString", "ReplaceAllLiteralString", "ReplaceAll", "ReplaceAllLiteral"}
	splitters = []string{"Split", "FindAllString", "FindAll", "FindAllStringIndex", "FindAllIndex"}
)

// methods returns the methods that the rule knows, as profiles name them.
func methods() (all []string) {
	for _, name := range slices.Concat(askers, replacers, splitters) {
		all = append(all, "regexp.(*Regexp)."+name)
	}
	return all
}

// takes reports whether a call replaces all matches in a text, or splits it at all of them.
func takes(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if fn == nil || len(call.Args) != 2 {
		return false
	}
	switch {
	case slices.Contains(splitters, fn.Name()):
		n, ok := syntax.ConstInt(p, call.Args[1])
		return ok && n < 0
	case strings.Contains(fn.Name(), "Literal"):
		return true
	case slices.Contains(replacers, fn.Name()):
		text := ast.Unparen(call.Args[1])
		if conversion, ok := text.(*ast.CallExpr); ok && len(conversion.Args) == 1 {
			text = conversion.Args[0] // []byte("-")
		}
		with, ok := syntax.ConstString(p, text)
		return ok && !strings.Contains(with, "$")
	}
	return false
}

// describe fills in a match for an expression of one set that replaces or splits.
func describe(c *finder.Case, pattern string) bool {
	call := c.Calls[0]
	name := c.Place.Callee(call).Name()
	text, pkg := syntax.Text(call.Args[0]), "bytes"
	if syntax.IsString(c.Place, call.Args[0]) {
		pkg = "strings"
	}
	spaces := pattern == `\s+` || pattern == `\s*` || pattern == `[\s]+` || pattern == `\S+`
	// Measured with texts of 9 to 220 bytes (amd64, Go 1.26): a loop or strings.Map in place of
	// ReplaceAllString saves 0.95, FieldsFunc in place of FindAllString 0.85, Fields in place of
	// Split 0.86.
	f := rule.Fraction{Expect: 0.85, Low: 0.6, High: 0.95}
	what, unit := "finds the characters of a set", parse(pattern).unit()
	switch {
	case slices.Contains(replacers, name):
		what = "replaces the characters of a set"
		f = rule.Fraction{Expect: 0.92, Low: 0.7, High: 0.97}
		c.Fix = fmt.Sprintf("Write a loop over the %s of %s that appends what stays, and the replacement once for each run of others, to a []byte.", unit, text)
		if spaces {
			c.Fix = fmt.Sprintf("Write a loop over %s that copies runs of other characters; if the space at both ends may go, join the words of %s.Fields(%s).", text, pkg, text)
		} else if re := parse(pattern); re.most == 1 {
			c.Fix = fmt.Sprintf("Write %s.Map(f, %s), where f returns the replacement (-1 to drop) for a character of the set, and other characters unchanged; for a replacement of several characters, a loop that appends to a []byte.", pkg, text)
		}
	case name == "Split" && spaces:
		what = "splits at the characters of a set"
		c.Fix = fmt.Sprintf("Write strings.Fields(%s), which returns no empty text before a first or after a last space; to iterate, strings.FieldsSeq.", text)
	case name == "Split":
		what = "splits at the characters of a set"
		c.Fix = fmt.Sprintf("Write strings.FieldsFunc(%s, f), where f reports whether a character is in the set. It returns no empty texts, which Split has at both ends and, without +, between neighbours.", text)
	case spaces && strings.HasSuffix(name, "String"):
		c.Fix = fmt.Sprintf("Write strings.Fields(%s); to iterate, strings.FieldsSeq, which allocates no list.", text)
	case strings.HasSuffix(name, "Index"):
		c.Fix = fmt.Sprintf("Write a loop over %s that notes where runs of characters of the set start and end.", text)
	default:
		c.Fix = fmt.Sprintf("Write %s.FieldsFunc(%s, f), where f reports whether a character is not in the set; to iterate, FieldsFuncSeq, which allocates no list.", pkg, text)
		if re := parse(pattern); re.most == 1 {
			c.Fix = fmt.Sprintf("Write a loop over the %s of %s that appends those of the set.", unit, text)
		}
	}
	c.Cause = fmt.Sprintf("The regular expression %#q only %s in %s: the engine takes more than 10 ns for each character, and allocates for the positions of each match. A loop takes about one.", syntax.Short(pattern), what, text)
	c.Fraction = &f
	return true
}
