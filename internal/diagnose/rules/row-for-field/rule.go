// Package rowforfield finds callers that load a whole row to use one or two of its fields.
package rowforfield

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sqltext"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/used"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const (
	// leastColumns is the minimum number of columns of a row that is loaded for mostFields of them.
	leastColumns = 8
	mostFields   = 2
	// deciding is the number of frames that decide what is used of a row.
	deciding = 6
	// Of a query for one column remains the round trip, but no join that only others need. Nearly
	// nothing remains of what scans and decodes the others.
	queryLess  = 0.35
	plainLess  = 0.1 // without joins
	decodeLess = 0.9
)

// Rule is row-for-field.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "row-for-field",
		Kind:  rule.CPU,
		Title: "Whole row loaded for one of its fields",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				Fraction:    rule.Fraction{Expect: 0.6, Low: 0.2, High: 0.95},
				Specificity: 3, // it says why the row is read and decoded
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function loads a whole object: all columns, joined with what belongs to it, texts
decoded from JSON, defaults filled in. It was written for the page that shows the
object. Others call it since it is there, to learn one thing, such as when a member
last read, or who owns a file: they pay for the columns that nobody looks at, for
the joins that fill them, and for decoding.

Write a query for what these callers ask: select the one column, with the same
condition, without the joins that only other columns need, and scan it into a
variable. Or put that into a method of its own beside the one that loads all.

It is fine where the object is in a cache, and where most fields are used. The rule
follows the result through variables, parameters and up to four callers. It reports
queries for one row that scan at least eight columns, for callers that use one or
two fields and nothing else.

Seen in the field: mattermost/mattermost#25865 (a member with five tables joined,
for the time at which it last read).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, callers: used.Callers{Syntax: p.Syntax}, loaders: map[string]int{}}
	s.paths = finder.RememberPaths(deciding, s.look)
	start := func(r *site.Row) int {
		for i := len(r.Stack) - 2; i >= 0; i-- {
			if r.Stack[i].Owner.Kind != gocode.Main || s.columns(r.Stack[i]) < leastColumns {
				continue
			}
			if at := s.paths.From(r.Stack, i); at >= 0 {
				return at
			}
		}
		return -1
	}
	return finder.Line{Start: finder.Frames(start), Judge: s.judge}
}

type search struct {
	pass    *rule.Pass
	callers used.Callers
	paths   *finder.Paths[loaded]
	loaders map[string]int // columns, by function
}

// loaded is a row of which a caller uses little.
type loaded struct {
	loader  *gocode.Place
	result  used.Result
	fields  []string
	columns int
}

// columns returns how many columns of one row the function of a frame scans; 0 for other functions.
func (s *search) columns(f *site.Frame) int {
	n, seen := s.loaders[f.Function]
	if !seen {
		if p, ok := s.pass.Syntax.At(f.File, f.Line); ok && p.Decl != nil && p.Decl.Body != nil && p.Func == p.Decl {
			n = columns(p.Outer())
		}
		s.loaders[f.Function] = n
	}
	return n
}

// columns returns how many columns of one row a function scans, or a library fills for it.
func columns(p *gocode.Place) (n int) {
	ast.Inspect(p.Decl.Body, func(x ast.Node) bool {
		call, ok := x.(*ast.CallExpr)
		if !ok {
			return true
		}
		name := p.CalleeName(call)
		switch {
		case funcname.Match(name, "(*database/sql.Row).Scan", "(*github.com/jmoiron/sqlx.Row).Scan", "(github.com/jackc/pgx/v*.Row).Scan"):
			if !call.Ellipsis.IsValid() {
				n = max(n, len(call.Args))
			}
		case funcname.Match(name, "(*github.com/jmoiron/sqlx.*).Get", "(*github.com/jmoiron/sqlx.*).GetContext", "(*gorm.io/gorm.DB).First", "(*gorm.io/gorm.DB).Take", "(*gorm.io/gorm.DB).Last"):
			for _, arg := range call.Args {
				n = max(n, fields(p.TypeOf(arg)))
			}
		}
		return true
	})
	return n
}

// fields returns how many fields the struct has that a pointer refers to; 0 for others.
func fields(t types.Type) int {
	if t == nil {
		return 0
	}
	ptr, ok := t.Underlying().(*types.Pointer)
	if !ok {
		return 0
	}
	s, ok := ptr.Elem().Underlying().(*types.Struct)
	if !ok {
		return 0
	}
	return s.NumFields()
}

// look returns the row that the function of a frame loads for a caller which uses little of it,
// with the index of the caller.
func (s *search) look(stack []*site.Frame, from int) (*loaded, int) {
	p, ok := s.pass.Syntax.At(stack[from].File, stack[from].Line)
	if !ok || p.Decl == nil || p.Func != p.Decl {
		return nil, from
	}
	r, ok := s.callers.Of(stack, from)
	if !ok || len(r.Parts) == 0 {
		return nil, from
	}
	u := r.Parts[0]
	if u.Whole || u.Length || len(u.Keys) > 0 || len(u.Fields) == 0 || len(u.Fields) > mostFields {
		return nil, from
	}
	for _, other := range r.Parts[1:] {
		if !other.Whole && !other.Tested && !other.None() {
			return nil, from
		}
	}
	return &loaded{loader: p.Outer(), result: r, fields: u.Fields, columns: s.columns(stack[from])}, from + 1
}

func (s *search) judge(c *finder.Case) bool {
	l := s.paths.At(&c.Site.Frame)
	if l == nil {
		return false
	}
	name, caller := syntax.FuncName(l.loader), syntax.FuncName(l.result.Place)
	what := strings.Join(l.fields, " and ")
	c.Cause = fmt.Sprintf("%s calls %s, which loads a whole row (%d columns), and uses only %s of it. The other columns are selected, scanned and decoded for nothing.",
		caller, name, l.columns, what)
	c.Fix = fmt.Sprintf("Select %s alone, with the same condition, in a query of its own beside %s: without the joins and the decoding that only other columns need.", what, name)
	c.Confidence = rule.Likely
	if less := s.less(c, s.plain(l.loader)); less > 0 {
		c.Fraction = &rule.Fraction{Expect: less, Low: 0.4 * less, High: min(1, 1.6*less)}
	}
	if e, ok := evidence.ExecutionsAt(s.pass, l.result.Place, l.result.Call.Pos()); ok {
		c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted,
			Value: fmt.Sprintf("%s per %s", evidence.Times(e.PerUnit), s.pass.Manifest.Unit())})
	}
	return true
}

// plain reports whether a function's statement, if it is known, reads one table.
func (s *search) plain(p *gocode.Place) (is bool) {
	sql := sqltext.Of(s.pass)
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		for _, arg := range call.Args {
			if !syntax.IsString(p, arg) {
				continue
			}
			if text := sql.Text(p, arg); strings.Contains(strings.ToUpper(text), "SELECT ") {
				is = len(sqltext.Tables(text)) == 1
			}
		}
		return true
	})
	return is
}

// less returns the share of the cost that a query for one column saves: little of what the query
// itself costs, and nearly all of the rest.
func (s *search) less(c *finder.Case, plain bool) float64 {
	query := queryLess
	if plain {
		query = plainLess
	}
	var sum, all float64
	for _, r := range c.CPU {
		weight := decodeLess
		for _, f := range r.Stack {
			if funcname.Match(f.Function, "database/sql.(*Stmt).Query*", "database/sql.(*DB).Query*", "database/sql.(*Tx).Query*", "database/sql.(*Conn).Query*", "github.com/jackc/pgx/*.Query*", "gorm.io/gorm.(*DB).*", "github.com/jmoiron/sqlx.*") {
				weight = query
			}
		}
		sum += weight * float64(r.Value)
		all += float64(r.Value)
	}
	if all == 0 {
		return 0
	}
	return sum / all
}
