// Package formattedtoparse finds values that are formatted into texts which are only parsed again.
package formattedtoparse

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Rule is formatted-to-parse.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "formatted-to-parse",
		Kind:  rule.CPU,
		Uses:  []rule.Need{rule.NeedCounts},
		Title: "Value formatted into a text that is parsed into the same value again",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// The fix passes the value, which costs nothing.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.6, High: 1},
				Specificity: 4, // how the text is made does not matter where it is not needed
				Removes:     true,
			},
			Lines:   []finder.Line{standard()},
			Prepare: prepare,
		},
	}
}

const doc = `A layer of a program passes values as texts: an iterator returns the text of a
tuple, a map has the text of a key, and the next layer parses it into the same
type. Each value is formatted and parsed for each use, with three or more
allocations, though both sides are in the same program.

Pass the value itself: let the iterator return the struct, and use the struct as
the key of the map, if its fields can be compared. Format it where a text leaves
the program.

The same is done to round a number to two places, to cut a time to its day, or to
get at a value whose type is not known: strconv.ParseFloat(fmt.Sprintf("%.2f", x),
64), time.Parse(layout, t.Format(layout)), strconv.Atoi(fmt.Sprint(v)). That takes
100 to 400 ns, where math.Round, time.Date or a type switch take a few.

It is fine where the text is stored or sent. The rule reports functions that
split or parse a text into a struct of the package, where they get the result of
a method of that struct, directly, through a variable, a function or an interface
of the package, or as the key of a map, and both run for at least one request in
twenty; and parsers of numbers, times and addresses that get such a text which
has no other use.

Seen in the field: openfga/openfga#1818 (tuples converted from one form to
another and back for each check).`

func prepare(p *rule.Pass) []finder.Line {
	if p.Syntax == nil || p.Counts == nil {
		return nil
	}
	s := &search{pass: p, at: map[gocode.Pos]*pair{}}
	have, _ := p.Syntax.Packages()
	for _, name := range have {
		if in, ok := p.Syntax.Package(name); ok {
			s.collect(in)
		}
	}
	return []finder.Line{{Start: finder.Frames(s.caller), Judge: s.judge}}
}

type search struct {
	pass *rule.Pass
	at   map[gocode.Pos]*pair // of the lines that parse and format
}

// pair is a call that parses a text, and what formats it.
type pair struct {
	parse, format     string // as the code names the functions
	parsed, formatted string // positions
	of                string // the type
}

// caller returns the frame of a row, nearest to the root, that parses or formats such a text.
func (s *search) caller(r *site.Row) int {
	for i := len(r.Stack) - 1; i > 0; i-- {
		f := r.Stack[i]
		if k := f.Owner.Kind; (k == gocode.Main || k == gocode.Dependency) && s.at[gocode.Pos{File: f.File, Line: f.Line}] != nil {
			return i
		}
	}
	return -1
}

// collect notes what the functions of a package parse and format.
func (s *search) collect(pkg *gocode.Place) {
	for _, f := range pkg.Files() {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil {
				continue
			}
			p := pkg.Entry(decl)
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 1 && syntax.IsString(p, call.Args[0]) {
					if t := parses(p, call); t != nil {
						s.pairs(p, call, t)
					}
				}
				return true
			})
		}
	}
}

// pairs notes a call that parses a text into a type, if a method of the type formats the text.
func (s *search) pairs(p *gocode.Place, call *ast.CallExpr, t *types.Named) {
	for _, e := range sources(p, call.Args[0], 3) {
		format, ok := ast.Unparen(e).(*ast.CallExpr)
		if !ok || !formats(p, format, t) || !s.hot(p, call) || !s.hot(p, format) {
			continue
		}
		found := &pair{
			parse: syntax.Short(syntax.Text(call.Fun)), format: syntax.Short(syntax.Text(format.Fun)), of: t.Obj().Name(),
			parsed: syntax.Where(p, call.Pos()), formatted: syntax.Where(p, format.Pos()),
		}
		for _, n := range []ast.Node{call, format} {
			at := p.Fset.Position(n.Pos())
			s.at[s.pos(p, at.Filename, at.Line)] = found
		}
	}
}

func (s *search) hot(p *gocode.Place, n ast.Node) bool {
	e, ok := evidence.ExecutionsAt(s.pass, p, n.Pos())
	return ok && evidence.Hot(s.pass, e)
}

// pos returns a position as the frames of the profile have it.
func (s *search) pos(p *gocode.Place, file string, line int) gocode.Pos {
	for _, at := range s.pass.Table.Sites {
		if in, ok := s.pass.Syntax.At(at.File, at.Line); ok && in.Pkg == p.Pkg && in.Fset.Position(in.File.Pos()).Filename == file {
			return gocode.Pos{File: at.File, Line: line}
		}
	}
	return gocode.Pos{File: file, Line: line}
}

func (s *search) judge(c *finder.Case) bool {
	f := s.at[gocode.Pos{File: c.Site.File, Line: c.Site.Line}]
	if f == nil {
		return false
	}
	c.Callees = below(c)
	c.Confidence = rule.Likely // the text may have another use
	c.Cause = fmt.Sprintf("%s formats a %s into a text (%s), which %s parses into a %s again (%s).", f.format, f.of, f.formatted, f.parse, f.of, f.parsed)
	c.Fix = fmt.Sprintf("Pass the %s itself, as the result, the element or the key of the map, and format it only where a text leaves the program.", f.of)
	return true
}

// below returns the functions that the line calls, as the profile names them.
func below(c *finder.Case) (callees []string) {
	for _, r := range append(slices.Clone(c.CPU), c.Allocs...) {
		for i := 1; i < len(r.Stack); i++ {
			if f := r.Stack[i]; f.File == c.Site.File && f.Line == c.Site.Line && !slices.Contains(callees, r.Stack[i-1].Function) {
				callees = append(callees, r.Stack[i-1].Function)
			}
		}
	}
	return callees
}
