package scanperlookup

import (
	"go/ast"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestInvalidates: passes over a cache for each change, and near misses: sweeps of what expired or
// of collected changes, validations, and the removal of one element.
func TestInvalidates(t *testing.T) {
	const src = `package main

import "time"

type tree struct{ names []string }

func (t *tree) add(name string) { t.names = append(t.names, name) }

func (t *tree) find(pattern string) (found []string) {
	for _, n := range t.names {
		if n == pattern {
			found = append(found, n)
		}
	}
	return found
}

func of(name string) *tree { return &tree{names: []string{name}} }

type entry struct{ until time.Time }

func (e *entry) expired(now time.Time) bool { return now.After(e.until) }

type cache struct{ all map[string]*entry }

func (c *cache) Keys() []string        { return nil }
func (c *cache) Remove(key string)     {}
func match(pattern, name string) bool  { return pattern == name+"*" }
func check(rule, name string) []string { return nil }

type answers struct {
	known *cache
	byKey map[string]*entry
	fresh *tree
}

func (a *answers) added(name string) {
	t := &tree{}
	t.add(name)
	for _, pattern := range a.known.Keys() {
		if len(t.find(pattern)) > 0 { //@ drops 1
			a.known.Remove(pattern)
		}
	}
}

func (a *answers) made(name string) {
	t := of(name)
	for _, pattern := range a.known.Keys() {
		if names := t.find(pattern); len(names) != 0 { //@ drops 2
			a.known.Remove(pattern)
		}
	}
}

func (a *answers) matched(name string) {
	for pattern := range a.byKey {
		if match(pattern, name) { //@ drops 3
			delete(a.byKey, pattern)
		}
	}
}

func (a *answers) kept(name string) {
	for pattern := range a.byKey {
		if !match(pattern, name) { //@ drops 4
			continue
		}
		delete(a.byKey, pattern)
	}
}

func (a *answers) sweep(now time.Time) {
	for key, e := range a.byKey {
		if e.expired(now) { //@ none 1
			delete(a.byKey, key)
		}
	}
}

func (a *answers) batch() {
	t := a.fresh
	for _, pattern := range a.known.Keys() {
		if len(t.find(pattern)) > 0 { //@ none 2
			a.known.Remove(pattern)
		}
	}
}

func validate(rules []string, name string) (errs []string) {
	for _, rule := range rules {
		if e := check(rule, name); len(e) > 0 { //@ none 3
			errs = append(errs, e...)
		}
	}
	return errs
}

func (a *answers) one(name string) {
	for pattern := range a.byKey {
		if match(pattern, name) { //@ none 4
			delete(a.byKey, pattern)
			return
		}
	}
}

func (a *answers) many(name string) {
	for pattern := range a.byKey {
		if len(check(pattern, name)) > 3 { //@ none 5
			delete(a.byKey, pattern)
		}
	}
}

func main() {}
`
	for name, place := range ruletest.Places(t, src) {
		sh, ok := shapeOf(place, place.Loop(), func(*ast.IfStmt) bool { return false })
		s := &search{shape: sh}
		if want := strings.HasPrefix(name, "drops"); (ok && s.invalidates(place)) != want {
			t.Errorf("%s: found %v, invalidates %v", name, ok, !want)
		}
	}
}
