// Package wholekeyfetched finds commands that fetch a whole hash, set or list from Redis to use one
// element of it.
package wholekeyfetched

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
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// leastBytes is the minimum memory that an answer takes: to fetch a few fields at once is fine.
const leastBytes = 2 << 10

// Rule is whole-key-fetched.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "whole-key-fetched",
		Kind:  rule.IO,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Whole hash, set or list of Redis fetched for one element",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// The round trip remains, with a short answer.
				Fraction:    rule.Fraction{Expect: 0.8, Low: 0.4, High: 0.95},
				Specificity: 3, // it says which command asks for less
			},
			Prepare: prepare,
		},
	}
}

const doc = `HGETALL, SMEMBERS and LRANGE 0 -1 send all of a key's elements. If the program
then looks one of them up, counts them, or asks whether one is there, Redis has
collected and sent hundreds for it, serving nobody else meanwhile, and the client
has made a string and a slot of a map of each. It costs more with each element.

Ask for what is needed: HGET or HMGET, HLEN, HEXISTS; SISMEMBER, SMISMEMBER or
SCARD; LINDEX, LRANGE with bounds, LLEN; ZSCORE, ZRANGE with bounds, ZCARD. Send
several of them in a pipeline.

It is fine for keys with few elements, and where most of them are used. The rule
follows the result through the functions that return it. It reports commands of
go-redis whose answers take two kilobytes or more, if all that is done with them
is a lookup, a count or a test.

Seen in the field: bosun-monitor/bosun#1575 (HGETALL for a few tag sets).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p}
	lines := finder.Remember(p, s.look)
	at := func(r *site.Row) int {
		for i := 1; i < len(r.Stack); i++ {
			if r.Stack[i].Owner.Kind == gocode.Main && client(r.Stack[i-1].Function) && lines.At(r.Stack[i]) != nil {
				return i
			}
		}
		return -1
	}
	judge := func(c *finder.Case) bool {
		f := lines.At(&c.Site.Frame)
		if f == nil {
			return false
		}
		bytes := 0.0
		for _, r := range c.Allocs {
			bytes += float64(r.Value)
		}
		each, ok := evidence.PerExecution(p, c.Site.Frame, bytes)
		if p.Manifest.Unit() == "run" { // not known to be of one run
			each, ok = bytes/f.runs, true
		}
		if !ok || each < leastBytes {
			return false
		}
		f.describe(c, each)
		return true
	}
	return finder.Line{Start: finder.Frames(at), Judge: judge}
}

// client reports whether a function of a profile is one of a client of Redis.
func client(function string) bool {
	return funcname.Match(function, "github.com/redis/go-redis/*", "github.com/go-redis/redis/*")
}

// command is one that fetches all elements of a key, and what to ask for instead.
type command struct{ name, element, member, number, part string }

func commands() map[string]command {
	hash := command{"HGETALL", "HGET (or HMGET)", "HEXISTS", "HLEN", "HMGET"}
	set := command{"SMEMBERS", "SISMEMBER", "SISMEMBER", "SCARD", "SRANDMEMBER"}
	list := command{"LRANGE 0 -1", "LINDEX", "LPOS", "LLEN", "LRANGE with bounds"}
	sorted := command{"ZRANGE 0 -1", "ZRANGE with bounds", "ZSCORE", "ZCARD", "ZRANGE with bounds"}
	return map[string]command{
		"HGetAll": hash, "HKeys": hash, "HVals": hash, "SMembers": set, "SMembersMap": set, "LRange": list,
		"ZRange": sorted, "ZRevRange": sorted, "ZRangeWithScores": sorted, "ZRevRangeWithScores": sorted,
	}
}

// fetch is a line that fetches all elements of a key for one of them.
type fetch struct {
	command
	place *gocode.Place
	use   use
	where string // where the element is used, if that is not the line's function
	runs  float64
}

type search struct{ pass *rule.Pass }

// look returns the fetch on a line; nil for none.
func (s *search) look(_ *site.Frame, p *gocode.Place) *fetch {
	for _, call := range syntax.Calls(p) {
		fn := p.Callee(call)
		if fn == nil || fn.Pkg() == nil || !strings.Contains(fn.Pkg().Path(), "redis") || fn.Signature().Recv() == nil {
			continue
		}
		c, ok := commands()[fn.Name()]
		if !ok || strings.Contains(fn.Name(), "Range") && !whole(p, call) {
			continue
		}
		runs, ok := evidence.ExecutionsAt(s.pass, p, call.Lparen)
		if !ok || !evidence.Hot(s.pass, runs) {
			continue
		}
		answer := call
		if sel, isSel := syntax.Parent(p.Outer(), call).(*ast.SelectorExpr); isSel && (sel.Sel.Name == "Result" || sel.Sel.Name == "Val") {
			if read, isCall := syntax.Parent(p.Outer(), sel).(*ast.CallExpr); isCall {
				answer = read
			}
		}
		if answer == call {
			continue
		}
		if u, where := s.useOf(p, answer, deepest); u != other {
			if where == syntax.FuncName(p) {
				where = ""
			}
			return &fetch{c, p, u, where, runs.PerUnit}
		}
	}
	return nil
}

// whole reports whether a call asks for a range from 0 to -1.
func whole(p *gocode.Place, call *ast.CallExpr) bool {
	if len(call.Args) < 2 {
		return false
	}
	from, a := syntax.ConstInt(p, call.Args[len(call.Args)-2])
	to, b := syntax.ConstInt(p, call.Args[len(call.Args)-1])
	return a && b && from == 0 && to == -1
}

func (f *fetch) describe(c *finder.Case, each float64) {
	c.Confidence = rule.Likely
	does, instead := "looks up one of them", f.element
	switch f.use {
	case member:
		does, instead = "only asks whether one is there", f.member
	case number:
		does, instead = "only counts them", f.number
	case part:
		does, instead = "takes only some of them", f.part
	}
	by := ""
	if f.where != "" {
		by = " " + f.where
	}
	c.Cause = fmt.Sprintf("%s fetches all elements of a key of Redis (%s), %s per call, and then%s %s. Redis collects and sends all of them, and the client makes strings of them.",
		syntax.FuncName(f.place), f.name, units.Bytes(each), by, does)
	c.Fix = fmt.Sprintf("Ask for what is needed: %s.", instead)
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s per %s", units.Number(f.runs), c.Pass.Manifest.Unit())})
}

// declared returns the function around a place; nil for none, and for a function literal.
func declared(p *gocode.Place) *types.Func {
	if p.Decl == nil || p.Func != ast.Node(p.Decl) {
		return nil
	}
	fn, _ := p.Info.Defs[p.Decl.Name].(*types.Func)
	return fn
}
