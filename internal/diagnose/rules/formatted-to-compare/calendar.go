package formattedtocompare

import (
	"fmt"
	"go/ast"
	"go/token"
	"time"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// calendar returns the line for times that are formatted, by a layout of whole days, only to be
// compared.
func calendar() finder.Line {
	return finder.Line{Start: finder.Calls{Functions: []string{"time.Time.Format"}}, Judge: judgeDays}
}

func judgeDays(c *finder.Case) bool {
	var of, other ast.Expr
	layout, op := "", ""
	ok := c.All(func(call *ast.CallExpr) bool {
		text, known := days(c.Place, call)
		b := comparedText(c.Place, call)
		if !known || b == nil {
			return false
		}
		if of != nil {
			return true
		}
		of, other, layout, op = syntax.Receiver(call), b.Y, text, b.Op.String()
		if syntax.Within(b.Y, call) || ast.Unparen(only(c.Place, b.Y)) == ast.Expr(call) {
			other = b.X
		}
		return true
	})
	if !ok || of == nil {
		return false
	}
	c.Live = nil
	c.Confidence = rule.Likely // the zone of each time decides about its day
	c.Cause = fmt.Sprintf("%s is formatted as %q only to be compared (%s): the text is put together and allocated each time, for a comparison of three numbers.", syntax.Text(of), layout, op)
	value := "day"
	if call, ok := only(c.Place, other).(*ast.CallExpr); ok && c.Place.CalleeName(call) == "(time.Time).Format" {
		value = syntax.Text(syntax.Receiver(call))
		c.Fix = fmt.Sprintf("Compare what Date of %s and of %s return: year, month and day. In one zone, Year and YearDay do.", syntax.Text(of), value)
	} else {
		c.Fix = fmt.Sprintf("Have %s as numbers or as two times, once: compare what %s.Date() returns with its year, month and day, or test that the time is not before the start of the day and before the next one.",
			syntax.Text(other), syntax.Text(of))
	}
	c.Fraction = &rule.Fraction{Expect: 0.85, Low: 0.6, High: 0.97} // Date divides, too
	return true
}

// days returns the constant layout by which a call formats a time, if it has a date, and nothing
// smaller than a day.
func days(p *gocode.Place, call *ast.CallExpr) (layout string, ok bool) {
	if len(call.Args) != 1 {
		return "", false
	}
	layout, ok = syntax.ConstString(p, call.Args[0])
	t := time.Date(2001, 2, 3, 14, 5, 6, 7_000_000, time.UTC)
	year, clock := t.AddDate(1, 0, 0).Format(layout), t.Add(98*time.Minute+7*time.Second).Format(layout)
	return layout, ok && year != t.Format(layout) && clock == t.Format(layout)
}

// comparedText returns the comparison of a text with another one, if it has no other use; nil for
// none.
func comparedText(p *gocode.Place, call *ast.CallExpr) *ast.BinaryExpr {
	var e ast.Expr = call
	if v := syntax.Result(p, call); v != nil {
		reads := syntax.Reads(p, v)
		if len(reads) != 1 || len(syntax.Assigned(p, v)) != 1 || syntax.IsResult(p, v) {
			return nil
		}
		e = reads[0]
	}
	b, ok := syntax.Parent(p, e).(*ast.BinaryExpr)
	if !ok {
		return nil
	}
	switch b.Op {
	case token.EQL, token.NEQ, token.LSS, token.GTR, token.LEQ, token.GEQ:
		return b
	}
	return nil
}
