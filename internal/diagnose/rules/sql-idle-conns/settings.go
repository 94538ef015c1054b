package sqlidleconns

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"time"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const (
	// byDefault is the number of idle connections that a pool keeps.
	byDefault = 2
	// short is a lifetime of connections that closes them under load.
	short = time.Second
)

// setting is a call that configures a pool.
type setting struct {
	text, where string // "db.SetMaxIdleConns(n)", "db.go:12"
	value       int64
	known       bool
}

// settings are the calls that configure pools, by the method's name, and the number of calls that
// open one.
type settings struct {
	calls map[string][]setting
	opens int
}

// settings reads the settings in the packages of the program's lines that open connections, and of
// their callers.
func (c *churn) settings(p *rule.Pass) *settings {
	s := &settings{calls: map[string][]setting{}}
	seen := map[*types.Package]bool{}
	read := func(f *site.Frame) {
		if f.Owner.Kind != gocode.Main || p.Syntax == nil {
			return
		}
		if place, ok := p.Syntax.At(f.File, f.Line); ok && !seen[place.Pkg] {
			seen[place.Pkg] = true
			s.read(place)
		}
	}
	for _, r := range c.cpu {
		for _, f := range r.Stack {
			read(f)
		}
	}
	for _, at := range p.Table.Sites {
		read(&at.Frame)
	}
	return s
}

// read adds the calls in a place's package.
func (s *settings) read(p *gocode.Place) {
	for _, file := range p.Files() {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if fn := p.Callee(call); fn != nil && fn.Pkg() != p.Pkg && opens(fn) {
				s.opens++
			}
			name := p.CalleeName(call)
			if method, ok := method(name); ok && len(call.Args) == 1 {
				set := setting{text: syntax.Text(call), where: syntax.Where(p, call.Pos())}
				if v, ok := p.Const(call.Args[0]); ok {
					set.value, set.known = constant.Int64Val(constant.ToInt(v))
				}
				s.calls[method] = append(s.calls[method], set)
			}
			return true
		})
	}
}

// method returns the name of a pool's method that configures it.
func method(name string) (string, bool) {
	const pool = "(*database/sql.DB)."
	if len(name) <= len(pool) || name[:len(pool)] != pool {
		return "", false
	}
	switch m := name[len(pool):]; m {
	case "SetMaxIdleConns", "SetMaxOpenConns", "SetConnMaxLifetime", "SetConnMaxIdleTime":
		return m, true
	}
	return "", false
}

// opens reports whether a function returns a new pool.
func opens(fn *types.Func) bool {
	results := fn.Signature().Results()
	if fn.Signature().Recv() != nil || results.Len() == 0 {
		return false
	}
	return results.At(0).Type().String() == "*database/sql.DB"
}

// reason is why connections are closed.
type reason struct {
	cause, fix string
	confidence rule.Confidence
}

// reason explains why pools close connections under a load of that many requests at a time (0:
// unknown); false if the visible settings contradict it.
func (s *settings) reason(load int) (reason, bool) {
	const fix = "Call SetMaxIdleConns with the number of SetMaxOpenConns, or with the number of queries that run at a time."
	for _, name := range []string{"SetConnMaxLifetime", "SetConnMaxIdleTime"} {
		for _, c := range s.calls[name] {
			if c.known && c.value > 0 && c.value < int64(short) {
				return reason{
					cause:      fmt.Sprintf("%s (%s) closes them after %s.", c.text, c.where, time.Duration(c.value)),
					fix:        "Let connections live for minutes: the argument is a time.Duration, such as 5*time.Minute.",
					confidence: rule.Likely,
				}, true
			}
		}
	}
	open := int64(load)
	for _, c := range s.calls["SetMaxOpenConns"] {
		if c.known && c.value > 0 && (open == 0 || c.value < open) {
			open = c.value
		}
	}
	var few []setting
	for _, c := range s.calls["SetMaxIdleConns"] {
		if !c.known || open == 0 || c.value < open {
			few = append(few, c)
		}
	}
	switch {
	case len(few) > 0 && few[0].known:
		n := fmt.Sprintf("keeps %d of them", few[0].value)
		if few[0].value <= 0 {
			n = "keeps none"
		}
		return reason{cause: fmt.Sprintf("%s (%s) %s when they are idle.", few[0].text, few[0].where, n), fix: fix, confidence: rule.Likely}, true
	case len(few) > 0:
		return reason{
			cause:      fmt.Sprintf("%s (%s) keeps too few of them when they are idle; 0 keeps none.", few[0].text, few[0].where),
			fix:        fix + " Treat a missing configuration value as that number, not as 0.",
			confidence: rule.Likely,
		}, true
	case len(s.calls["SetMaxIdleConns"]) > 0:
		return reason{}, false
	case s.opens > 0 && (open == 0 || open > byDefault):
		return reason{cause: "The pool keeps only two idle connections, since SetMaxIdleConns is not called.", fix: fix, confidence: rule.Likely}, true
	case s.opens > 0:
		return reason{}, false
	}
	return reason{
		cause:      "Its pool keeps too few of them when they are idle: two, unless SetMaxIdleConns says otherwise.",
		fix:        fix + " Check SetConnMaxLifetime and SetConnMaxIdleTime as well.",
		confidence: rule.Hint, // the code that configures the pool is not seen
	}, true
}
