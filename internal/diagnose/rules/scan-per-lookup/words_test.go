package scanperlookup

import (
	"go/ast"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestAdvice: searches in which the last element that passes decides, and those for networks.
func TestAdvice(t *testing.T) {
	const src = `package main

import (
	"net/netip"
	"path"
)

type rule struct {
	pattern, team string
	weight        int
}

type file struct{ rules []rule }

func (f *file) owner(name string) (team string, ok bool) {
	for _, r := range f.rules {
		if is, _ := path.Match(r.pattern, name); is { //@ last
			team, ok = r.team, true
		}
	}
	return team, ok
}

func (f *file) first(name string) (team string) {
	for _, r := range f.rules {
		if r.pattern == name { //@ nothing 1
			team = r.team
			break
		}
	}
	return team
}

func (f *file) teams(name string) (teams []string) {
	for _, r := range f.rules {
		if r.pattern == name { //@ nothing 2
			teams = append(teams, r.team)
		}
	}
	return teams
}

func (f *file) count(name string) (n int) {
	for _, r := range f.rules {
		if r.pattern == name { //@ nothing 3
			n += r.weight
		}
	}
	return n
}

func (f *file) mark(name string) {
	for i := range f.rules {
		if f.rules[i].pattern == name { //@ nothing 4
			f.rules[i].weight = 1
		}
	}
}

func route(all []netip.Prefix, a netip.Addr) bool {
	for _, n := range all {
		if n.Contains(a) { //@ networks
			return true
		}
	}
	return false
}
`
	for name, p := range ruletest.Places(t, src) {
		loop, _ := loops.Outermost(p).(ast.Stmt)
		sh, ok := shapeOf(p, loop, func(*ast.IfStmt) bool { return false })
		if !ok {
			t.Errorf("%s: not a search", name)
			continue
		}
		s, says := &search{shape: sh}, "nothing"
		switch {
		case s.lastWins(p):
			says = "last"
		case s.contains(p):
			says = "networks"
		}
		if want, _, _ := strings.Cut(name, " "); says != want {
			t.Errorf("%s: %s", name, says)
		}
	}
}
