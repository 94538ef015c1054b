// Package logtextunwritten finds texts that are formatted for log messages that are not written.
package logtextunwritten

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loglevel"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// leastSamples is the minimum number of samples of formatting the text. With so many, writing would
// have samples too: it takes no less time.
const leastSamples = 20

// Rule is log-text-unwritten.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "log-text-unwritten",
		Kind:  rule.CPU,
		Uses:  []rule.Need{rule.NeedCounts},
		Title: "Text formatted for a log message that is not written",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// The fix saves the text. The test of the level remains.
				Fraction:    rule.Fraction{Expect: 0.97, Low: 0.9, High: 1},
				Specificity: 3,
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `log.Debug().Msg(fmt.Sprintf("%+v", order)) formats its text before the logger
tests the level: arguments are evaluated first. The formatting costs as much as
with debug on, and nothing is written.

Pass the values and let the logger format them when it writes: Debugf, slog
attributes, zap's and zerolog's typed fields, a type with LogValue or
MarshalZerologObject. Or test the level first (if e := log.Debug(); e.Enabled()
{ … }).

It is fine where the level is on. The rule reports lines of packages for logging,
and calls of functions that test a level first or whose counted executions do
not use the text, if the profile shows the formatting but no encoding and no
write below the line.

Seen in the field: viamrobotics/rdk#6139 and oxia-db/oxia#1186 (arguments of debug
lines that were off).`

// makers are functions that format texts, as profiles name them.
func makers() []string {
	return []string{"fmt.Sprintf", "fmt.Sprint", "fmt.Sprintln", "encoding/json.Marshal", "encoding/json.MarshalIndent", "github.com/davecgh/go-spew/spew.Sdump",
		"net/http/httputil.DumpRequest", "net/http/httputil.DumpRequestOut", "net/http/httputil.DumpResponse", "encoding/hex.EncodeToString",
		"encoding/hex.Dump", "encoding/base64.(*Encoding).EncodeToString", "strings.Join", "strconv.Quote", "runtime/debug.Stack"}
}

func prepare(ctx context.Context, p *rule.Pass) finder.Line {
	levels := loglevel.New(p, loglevel.Text)
	judge := func(c *finder.Case) bool { return (&search{ctx, c, levels}).judge() }
	return finder.Line{Start: finder.Calls{Functions: makers()}, Judge: judge}
}

// search examines one line.
type search struct {
	ctx    context.Context
	c      *finder.Case
	levels *loglevel.Search
}

func (s *search) judge() bool {
	c := s.c
	var logged *ast.CallExpr
	ok := c.All(func(call *ast.CallExpr) bool {
		logged = s.logger(call)
		return logged != nil
	})
	if !ok || s.written(logged) {
		return false
	}
	if _, n := stacks.Sum(c.CPU); n < leastSamples {
		return false
	}
	c.Cause = fmt.Sprintf("%s formats a text for %s before the logger tests the level. The profile shows that the logger writes nothing below: the level is off, and the text is discarded.",
		symbol.Short(c.Place.CalleeName(c.Calls[0])), syntax.Text(logged.Fun))
	c.Fix = "Test first whether the level is on, or pass the values themselves: the logger formats them only when it writes."
	return true
}

// logger returns the call of a logger that has the result of a call as an argument, at once or
// through a variable that nothing else reads; nil when there is none.
func (s *search) logger(call *ast.CallExpr) *ast.CallExpr {
	p := s.c.Place.Outer()
	if outer := s.around(call); outer != nil {
		return outer
	}
	a, ok := syntax.Parent(p, call).(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE || len(a.Rhs) != 1 || len(a.Lhs) == 2 && syntax.Text(a.Lhs[1]) != "_" {
		return nil
	}
	v := syntax.LocalVar(p, a.Lhs[0])
	if v == nil {
		return nil
	}
	var logged *ast.CallExpr
	for _, read := range syntax.Reads(p, v) {
		outer := s.around(read)
		if outer == nil || logged != nil {
			return nil
		}
		logged = outer
	}
	return logged
}

// around returns the call of a logger that has an expression in an argument; nil for none.
func (s *search) around(e ast.Expr) *ast.CallExpr {
	p := s.c.Place.Outer()
	for _, n := range p.Enclosing(e) {
		outer, ok := n.(*ast.CallExpr)
		if !ok || outer == e {
			if _, expr := n.(ast.Expr); !expr {
				return nil
			}
			continue
		}
		if _, conversion := p.Conversion(outer); conversion {
			continue
		}
		if loglevel.Library(p, outer) {
			return line(p, outer)
		}
		if _, alone := syntax.Parent(p, outer).(*ast.ExprStmt); alone && s.levels.Tests(s.ctx, p, outer) {
			return outer
		}
		return nil
	}
	return nil
}

// line returns the outermost call of a logging package around one: that of the line, of which the
// others make fields. It is nil if a copy of a logger is made, which may write lines elsewhere.
func line(p *gocode.Place, call *ast.CallExpr) *ast.CallExpr {
	last := call
	for _, n := range p.Enclosing(call) {
		switch n := n.(type) {
		case *ast.CallExpr:
			if !loglevel.Library(p, n) {
				return nil
			}
			last = n
		case *ast.ExprStmt:
			return last
		case *ast.AssignStmt: // _ = logger.Log(…)
			if len(n.Lhs) == 1 && syntax.Text(n.Lhs[0]) == "_" {
				return last
			}
			return nil
		case ast.Expr:
		default:
			return nil
		}
	}
	return nil
}

const (
	// mostTested is the most CPU that the logger may take below the line to test its level and to
	// pass the line on (its fields, a copy of it), as a share of the text's cost.
	mostTested = 0.6
	// mostPassed is the same for allocated bytes.
	mostPassed = 2
	// mostWritten is the same for what encodes and writes.
	mostWritten = 0.03
)

// written reports whether the profile shows that a logger writes the line.
func (s *search) written(logged *ast.CallExpr) bool {
	c := s.c
	at := syntax.Line(c.Place, logged.Pos())
	end := syntax.Line(c.Place, logged.End())
	here := func(f *site.Frame) bool { return f.File == c.Site.File && at <= f.Line && f.Line <= end }
	works := func(r *site.Row) bool {
		i := slices.IndexFunc(r.Stack, here)
		return i > 0 && s.own(logged, r.Stack[i-1]) || slices.ContainsFunc(r.Stack[:max(i, 0)], loglevel.Function)
	}
	writes := func(r *site.Row) bool {
		return slices.ContainsFunc(r.Stack[:max(slices.IndexFunc(r.Stack, here), 0)], writes)
	}
	var text, logger, writing [2]int64 // CPU and allocated bytes
	text[0], _ = stacks.Sum(c.CPU)
	text[1], _ = stacks.Sum(c.Allocs)
	for _, line := range c.Pass.Table.Sites {
		if line.File != c.Site.File || line.Line < at || line.Line > end {
			continue
		}
		cpu, allocs := finder.Passing(c.Pass, line, works)
		for i, rows := range [2][]*site.Row{append(cpu, stacks.Select(line.CPU, works)...), append(allocs, stacks.Select(line.Allocs, works)...)} {
			n, _ := stacks.Sum(rows)
			logger[i] += n
			n, _ = stacks.Sum(stacks.Select(rows, writes))
			writing[i] += n
		}
	}
	for i, most := range [2]float64{mostTested, mostPassed} {
		if float64(writing[i]) > mostWritten*float64(text[i]) || float64(logger[i]) > most*float64(text[i]) {
			return true
		}
	}
	return false
}

// writes reports whether a frame below a logger encodes a line, writes it, or sends it to a
// goroutine that does, as its name says.
func writes(f *site.Frame) bool {
	if strings.HasPrefix(f.Function, "runtime.") {
		return funcname.Match(f.Function, "runtime.chansend*", "runtime.selectgo", "runtime.selectnbsend", "runtime.Callers")
	}
	name := strings.ToLower(base(f.Function))
	return slices.ContainsFunc([]string{"write", "append", "encode", "format", "marshal", "fprint", "sprint", "output", "handle"}, func(word string) bool {
		return strings.HasPrefix(name, word)
	})
}

// base returns the name of a function without its package and receiver.
func base(function string) string {
	name, _, _ := strings.Cut(function, "[")
	return name[strings.LastIndexByte(name, '.')+1:]
}

// own reports whether a frame that the logger's line called is of a logger of the program: the
// function of the call, or, if that is not known, any function of a module.
func (s *search) own(logged *ast.CallExpr, f *site.Frame) bool {
	if fn := s.c.Place.Callee(logged); fn != nil {
		return strings.HasSuffix(f.Function, "."+fn.Name())
	}
	return f.Owner.Kind == gocode.Main || f.Owner.Kind == gocode.Dependency
}
