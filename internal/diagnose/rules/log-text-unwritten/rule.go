// Package logtextunwritten finds texts that are formatted for log messages that are not written.
package logtextunwritten

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loglevel"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// leastSamples is the minimum number of samples of formatting the text. With so many, writing would
// have samples too: it takes no less time.
const leastSamples = 20

// Rule is log-text-unwritten.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "log-text-unwritten",
		Kind:  rule.CPU,
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

It is fine where the level is on. The rule reports only lines below which the
profile shows the formatting, but no encoding and no write of the logger.

Seen in the field: viamrobotics/rdk#6139 and oxia-db/oxia#1186 (arguments of debug
lines that were off).`

// makers are functions that format texts, as profiles name them.
func makers() []string {
	return []string{"fmt.Sprintf", "fmt.Sprint", "fmt.Sprintln", "encoding/json.Marshal", "encoding/json.MarshalIndent", "github.com/davecgh/go-spew/spew.Sdump",
		"net/http/httputil.DumpRequest", "net/http/httputil.DumpResponse", "encoding/hex.EncodeToString", "strings.Join"}
}

// loggers are the packages whose calls may write nothing, by prefix.
func loggers() []string {
	return []string{"log/slog", "github.com/rs/zerolog", "go.uber.org/zap", "github.com/sirupsen/logrus", "github.com/go-logr/logr", "k8s.io/klog",
		"github.com/golang/glog", "github.com/hashicorp/go-hclog", "github.com/charmbracelet/log", "github.com/apex/log", "github.com/phuslu/log"}
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
	c.Cause = fmt.Sprintf("%s formats a text for %s, and the profile shows that the logger writes nothing below: the level is off, and the text is discarded.",
		funcname.Short(c.Place.CalleeName(c.Calls[0])), syntax.Text(logged.Fun))
	c.Fix = "Pass the values to the logger, which formats them only when it writes, or test the level first."
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
		if library(p, outer) {
			return outer
		}
		if _, alone := syntax.Parent(p, outer).(*ast.ExprStmt); alone && s.levels.Tests(s.ctx, p, outer) {
			return outer
		}
		return nil
	}
	return nil
}

// library reports whether a call is of a known logging package.
func library(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if fn == nil || fn.Pkg() == nil {
		return false
	}
	for _, prefix := range loggers() {
		if path := fn.Pkg().Path(); path == prefix || strings.HasPrefix(path, prefix+"/") {
			return true
		}
	}
	return false
}

// mostTested is the most that the logger may take below the line for testing its level, as a share
// of the text's own cost. Writing takes as much as formatting the text, or more.
const mostTested = 0.15

// written reports whether the profile shows that a logger writes the line.
func (s *search) written(logged *ast.CallExpr) bool {
	c := s.c
	at := syntax.Line(c.Place, logged.Pos())
	end := syntax.Line(c.Place, logged.End())
	works := func(r *site.Row) bool {
		for i, f := range r.Stack {
			if f.File == c.Site.File && at <= f.Line && f.Line <= end {
				return i > 0 && s.own(logged, r.Stack[i-1])
			}
			for _, prefix := range loggers() {
				if strings.HasPrefix(f.Function, prefix) {
					return true
				}
			}
		}
		return false
	}
	var cpu, allocs [2]int64 // of the text, and of the logger
	cpu[0], _ = stacks.Sum(c.CPU)
	allocs[0], _ = stacks.Sum(c.Allocs)
	for _, line := range c.Pass.Table.Sites {
		if line.File != c.Site.File || line.Line < at || line.Line > end {
			continue
		}
		belowCPU, belowAllocs := finder.Passing(c.Pass, line, works)
		for _, rows := range [][]*site.Row{belowCPU, stacks.Select(line.CPU, works)} {
			n, _ := stacks.Sum(rows)
			cpu[1] += n
		}
		for _, rows := range [][]*site.Row{belowAllocs, stacks.Select(line.Allocs, works)} {
			n, _ := stacks.Sum(rows)
			allocs[1] += n
		}
	}
	return float64(cpu[1]) > mostTested*float64(cpu[0]) || float64(allocs[1]) > mostTested*float64(allocs[0])
}

// own reports whether a frame that the logger's line called is of a logger of the program: the
// function of the call, or, if that is not known, any function of a module.
func (s *search) own(logged *ast.CallExpr, f *site.Frame) bool {
	if fn := s.c.Place.Callee(logged); fn != nil {
		return strings.HasSuffix(f.Function, "."+fn.Name())
	}
	return f.Owner.Kind == gocode.Main || f.Owner.Kind == gocode.Dependency
}
