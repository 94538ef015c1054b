// Package sscansimple finds fmt.Sscan calls that only read a few numbers or words.
package sscansimple

import (
	"fmt"
	"go/ast"
	"go/types"
	"regexp"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is sscan-simple.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "sscan-simple",
		Kind:  rule.CPU,
		Title: "fmt.Sscan for numbers that strconv could parse",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// For one number 606 ns became 12 (felixge/fgprof#7: 486 became 7). For a line of
				// eight fields, Split and Atoi take an eighth of the time (containers/storage#555).
				Fraction: rule.Fraction{Expect: 0.9, Low: 0.6, High: 1},
			},
			Start: finder.Calls{Functions: []string{"fmt.Sscanf", "fmt.Sscan", "fmt.Sscanln"}},
			Judge: judge,
		},
	}
}

const doc = `fmt.Sscanf and Sscan wrap the string in a reader, fetch it rune by rune through
an interface, collect each field in a buffer, and store it through a type
switch. strconv parses the same number thirty to fifty times faster; strings.Cut
or Fields split a line.

It is fine in tools and tests. The scanners are lenient where strconv is strict:
they skip leading space and ignore what follows the last verb. The rewrite is
stricter.

Seen in the field: containers/storage#555 (a parser eight times as fast),
felixge/fgprof#7, grafov/m3u8#63.`

func judge(c *finder.Case) bool {
	ok := c.All(func(call *ast.CallExpr) bool {
		first := 1
		if c.Place.CalleeName(call) == "fmt.Sscanf" {
			first = 2
			format, constant := syntax.ConstString(c.Place, call.Args[1])
			if !constant || !plain(format) {
				return false
			}
		}
		return !call.Ellipsis.IsValid() && len(call.Args) > first && basic(c.Place, call.Args[first:])
	})
	if !ok {
		return false
	}
	call := c.Calls[0]
	c.Cause = fmt.Sprintf("%s reads %s rune by rune through an interface, to find plain numbers or words.", symbol.Short(c.Name()), syntax.Text(call.Args[0]))
	read := "strconv.Atoi, ParseInt or ParseFloat"
	if fields := len(call.Args) - 1; fields > 2 || fields == 2 && c.Name() != "fmt.Sscanf" {
		c.Fix = "Split the text with strings.Cut or strings.Fields and parse the numbers with " + read + "."
	} else {
		c.Fix = "Parse it with " + read + "; trim it first if there may be spaces around it."
	}
	return true
}

var verbs = regexp.MustCompile(`%[a-zA-Z%]`)

// plain reports whether a format has only verbs that strconv and strings can replace, without
// widths.
func plain(format string) bool {
	for _, v := range verbs.FindAllString(format, -1) {
		if !strings.Contains("dsvfg", v[1:]) {
			return false
		}
	}
	return strings.Count(format, "%") == len(verbs.FindAllString(format, -1))
}

// basic reports whether all targets are pointers to numbers, strings or booleans without a Scan
// method.
func basic(p *gocode.Place, targets []ast.Expr) bool {
	for _, e := range targets {
		t := p.TypeOf(e)
		if t == nil {
			return false
		}
		ptr, ok := t.Underlying().(*types.Pointer)
		if !ok {
			return false
		}
		b, ok := ptr.Elem().Underlying().(*types.Basic)
		if !ok || b.Info()&(types.IsNumeric|types.IsString|types.IsBoolean) == 0 || b.Info()&types.IsComplex != 0 {
			return false
		}
		if types.NewMethodSet(t).Lookup(nil, "Scan") != nil {
			return false
		}
	}
	return true
}
