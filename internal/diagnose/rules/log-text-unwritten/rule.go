// Package logtextunwritten finds texts that are formatted for log messages that are not written.
package logtextunwritten

import (
	"fmt"
	"go/ast"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
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
		Finder: finder.Line{
			Claim: rule.Claim{
				// The fix saves the text. The test of the level remains.
				Fraction:    rule.Fraction{Expect: 0.97, Low: 0.9, High: 1},
				Specificity: 3,
				Removes:     true,
			},
			Start: finder.Calls{Functions: makers()},
			Judge: judge,
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

func judge(c *finder.Case) bool {
	var logged *ast.CallExpr
	ok := c.All(func(call *ast.CallExpr) bool {
		logged = loggerAround(c.Place, call)
		return logged != nil
	})
	if !ok || written(c) {
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

// loggerAround returns the call of a logger that has the result of a call as an argument; nil when
// there is none.
func loggerAround(p *gocode.Place, call *ast.CallExpr) *ast.CallExpr {
	for _, n := range p.Enclosing(call) {
		outer, ok := n.(*ast.CallExpr)
		if !ok || outer == call {
			if _, expr := n.(ast.Expr); !expr {
				return nil
			}
			continue
		}
		fn := p.Callee(outer)
		if fn == nil || fn.Pkg() == nil {
			return nil
		}
		for _, prefix := range loggers() {
			if path := fn.Pkg().Path(); path == prefix || strings.HasPrefix(path, prefix+"/") {
				return outer
			}
		}
	}
	return nil
}

// mostTested is the most that the logger may take below the line for testing its level, as a share
// of the text's own cost. Writing takes as much as formatting the text, or more.
const mostTested = 0.15

// written reports whether the profile shows that a logger writes the line.
func written(c *finder.Case) bool {
	works := func(r *site.Row) bool {
		for _, f := range r.Stack {
			if f.File == c.Site.File && f.Line == c.Site.Line {
				return false // nothing of a logger below the line
			}
			for _, prefix := range loggers() {
				if strings.HasPrefix(f.Function, prefix) {
					return true
				}
			}
		}
		return false
	}
	cpu, allocs := finder.Passing(c.Pass, c.Site, works)
	for _, x := range []struct{ text, own, below []*site.Row }{{c.CPU, c.Site.CPU, cpu}, {c.Allocs, c.Site.Allocs, allocs}} {
		text, _ := stacks.Sum(x.text)
		own, _ := stacks.Sum(stacks.Select(x.own, works))
		below, _ := stacks.Sum(x.below)
		if float64(own+below) > mostTested*float64(text) {
			return true
		}
	}
	return false
}
