// Package builtforpage finds lists that are built as a whole, and of which only a page is used.
package builtforpage

import (
	"context"
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	leastElements = 20   // of a list, in the mean
	leastPaged    = 50   // of one whose page has a size that is not known
	mostUsed      = 0.34 // share of the elements
	leastRuns     = 100  // of the loop in each run of a program that exits
)

// Rule is built-for-page.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "built-for-page",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Whole list read or built, and only a page of it used",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Each match has its own: the counted share of elements that nobody uses.
				Fraction: rule.Fraction{Expect: 0.9, Low: 0.4, High: 1},
				Removes:  true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function reads all rows of a query, or makes an element for each of what it
finds, and then cuts a page out of the list, takes its first element, or asks for
its length. The page has twenty elements, and the list grows with the data: each
request pays for all that it does not show.

Of a query, ask for the page: ORDER BY with LIMIT and OFFSET, or the rows after
the last one that was shown; COUNT(*) for the length. In memory, count what passes
the test, and make elements only for those of the page. Where the list is cut at a
limit, pass the limit to what builds it, and stop there.

It is the same if a loop converts all elements, for an answer in JSON, and a test
after it drops most of them: test first, and convert what passes.

It is fine for short lists, and for those that are kept for the next pages. The
rule compares how many elements were put into the list, as counted in the
recording, with the size of the page: it reports lists of at least twenty elements
of which at most a third is used. A list that the program sorts itself is a case
for sort-for-few.

Seen in the field: pokt-network/pocket-core#1100 (all results loaded, then cut
into pages), 0xPolygon/heimdall#145, etcd-io/etcd#22264 (a backlog read to its
end for each batch of a thousand).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, judged: map[string]*list{}, found: map[gocode.Pos]*list{}}
	return finder.Line{Start: finder.Frames(s.builder), Judge: s.judge}
}

type search struct {
	pass   *rule.Pass
	judged map[string]*list // by the lines of the function and its caller
	found  map[gocode.Pos]*list
}

// list is a list that a loop builds.
type list struct {
	name     string
	line     int     // of the loop
	rows     bool    // of a query
	called   string  // what calls the function literal that builds the list; "" for a loop
	elements float64 // each time
	filtered bool    // before the cut
	cut
}

// builder returns the frame of a row that builds a list of which a page is used; -1 for none.
func (s *search) builder(r *site.Row) int {
	for i := max(r.Owner, 0); i < len(r.Stack); i++ {
		f := r.Stack[i]
		if f.Owner.Kind != gocode.Main {
			continue
		}
		key := fmt.Sprint(f.File, ":", f.Line)
		if i+1 < len(r.Stack) {
			key += fmt.Sprint(" ", r.Stack[i+1].File, ":", r.Stack[i+1].Line)
		}
		l, seen := s.judged[key]
		if !seen {
			if p, ok := s.pass.Syntax.At(f.File, f.Line); ok {
				l = s.look(r, i, p)
			}
			s.judged[key] = l
		}
		if l != nil {
			s.found[gocode.Pos{File: f.File, Line: f.Line}] = l
			return i
		}
	}
	return -1
}

// look returns the list that the loop around a line builds.
func (s *search) look(r *site.Row, i int, p *gocode.Place) (found *list) {
	if p.Decl == nil {
		return nil
	}
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if found == nil && syntax.Line(p, n.Pos()) <= p.Line && p.Line <= syntax.Line(p, n.End()) {
				found = s.loop(r, i, p, n)
			}
		}
		return found == nil
	})
	if lit, ok := p.Func.(*ast.FuncLit); ok && found == nil {
		found = s.loop(r, i, p, lit)
	}
	return found
}

// loop returns the list that a loop builds, or a function literal that is called for each element,
// if only a page of it is used.
func (s *search) loop(r *site.Row, i int, p *gocode.Place, loop ast.Node) *list {
	b := built(p, loop)
	if b == nil {
		return nil
	}
	f := r.Stack[i]
	line := syntax.Line(p, loop.Pos())
	entries, called, ok := s.entries(p, f, loop)
	if !ok || entries <= 0 || s.pass.Manifest.Unit() == "run" && entries < leastRuns {
		return nil
	}
	added, ok := evidence.ExecutionsAt(s.pass, p, b.add.Pos())
	if !ok {
		return nil
	}
	l := &list{name: b.list.Name(), line: line, rows: b.rows, called: called, elements: added.PerUnit / entries}
	if l.elements < leastElements {
		return nil
	}
	if !b.rows {
		at, ok := evidence.Executions(s.pass, *f)
		if !ok || at.PerUnit > 1.1*added.PerUnit {
			return nil // it runs for the elements that are left out, too
		}
	}
	c, filtered, ok := s.used(r, i, p, b)
	l.filtered = filtered
	if c.share > 0 {
		if e, is := loops.ElementsOf(p, loop); is && e.Is(p, b.add.Args[1]) {
			return nil // nothing is made: an index is what helps
		}
		c.size = c.share * l.elements
	}
	if !ok || c.known && c.size > mostUsed*l.elements || !c.known && l.elements < leastPaged {
		return nil
	}
	l.cut = c
	return l
}

// entries returns how often a loop is reached for each unit of work, or the call that gets a
// function literal, and the name of what it calls.
func (s *search) entries(p *gocode.Place, f *site.Frame, loop ast.Node) (n float64, called string, ok bool) {
	lit, ok := loop.(*ast.FuncLit)
	if !ok {
		ran, ok := s.pass.Counts.Loop(f.Owner.Package, f.File, syntax.Line(p, loop.Pos()))
		return ran.Entries, "", ok
	}
	call, ok := syntax.Parent(p.Outer(), lit).(*ast.CallExpr)
	if !ok || call.Fun == lit || len(loops.Around(p.Outer(), call)) > 0 {
		return 0, "", false
	}
	n, ok = evidence.ReachedAt(s.pass, p.Outer(), call.Pos())
	return n, syntax.Short(syntax.Text(call.Fun)), ok
}

func (s *search) judge(c *finder.Case) bool {
	l := s.found[gocode.Pos{File: c.Site.File, Line: c.Site.Line}]
	if l == nil {
		return false
	}
	unused := 0.8 // of a page whose size is not known
	if l.known {
		unused = 1 - l.size/l.elements
	}
	c.Fraction = &rule.Fraction{Expect: 0.9 * unused, Low: 0.4 * unused, High: unused}
	c.Confidence = rule.Likely // the database may have to go through the rows before the page
	what := fmt.Sprintf("puts %s elements into %s each time", units.Number(l.elements), l.name)
	if l.rows {
		what = fmt.Sprintf("reads %s rows of the query each time", units.Number(l.elements))
	}
	by := "loop"
	if l.called != "" {
		by = "function"
	}
	c.Cause = fmt.Sprintf("The %s on line %d %s, and only %s.", by, l.line, what, l.describe())
	switch {
	case l.limit && !l.rows && !l.filtered:
		c.Cause += " The rest is thrown away."
		c.Fix = l.stop()
	case l.rows && l.known && l.size == 0:
		c.Fix = "Ask the database for the number: SELECT COUNT(*) with the same conditions reads no row into the program."
	case l.rows:
		c.Fix = "Let the query return only the page: ORDER BY with LIMIT and OFFSET, or the rows after the last one that was shown. If the total is shown too, ask for it with COUNT(*)."
	case l.known && l.size == 0:
		c.Fix = fmt.Sprintf("Count the elements instead of making and storing them in %s.", l.name)
	case l.share > 0:
		c.Fix = fmt.Sprintf("Test what the elements of %s are made from, and make only those that pass; or pass the test to the function that makes them.", l.name)
	case l.filtered:
		c.Fix = fmt.Sprintf("Test and sort what the elements of %s are made from, and make only those of the page.", l.name)
	default:
		c.Fix = fmt.Sprintf("Count what passes the test, and put into %s only the elements of the page: stop at its end if the total is not needed.", l.name)
	}
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s elements each time", units.Number(l.elements)),
	})
	return true
}

// stop says how to build no more of a list than its user takes.
func (l *list) stop() string {
	how := "Stop the loop"
	if l.called != "" {
		how = "Tell " + l.called + " to stop, by what the function returns or by a limit,"
	}
	return fmt.Sprintf("%s as soon as %s has as many elements as are used: pass the limit to the function. Ask for one more if the caller has to know whether there are others.", how, l.name)
}
