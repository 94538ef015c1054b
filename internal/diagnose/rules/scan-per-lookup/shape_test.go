package scanperlookup

import (
	"go/ast"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestExtremes: loops that search the first in an order, with a filter and by max.
func TestExtremes(t *testing.T) {
	const src = `package main

import "strings"

type backend struct {
	healthy bool
	zone    string
	load    int
}

type pool struct{ all []*backend }

func (p *pool) filtered() (best *backend) {
	for _, b := range p.all {
		if !b.healthy { //@ extreme 1
			continue
		}
		if best == nil || b.load < best.load {
			best = b
		}
	}
	return best
}

func (p *pool) flagged() (best int, found bool) {
	for _, b := range p.all {
		if b.load > best { //@ extreme 2
			best = b.load
			found = true
		}
	}
	return best, found
}

func (p *pool) high() (n int) {
	for _, b := range p.all {
		if b.healthy { //@ extreme 3
			n = max(n, b.load)
		}
	}
	return n
}

func (p *pool) below(limit int) (best *backend) {
	for _, b := range p.all {
		if b.load > limit { //@ extreme 4
			continue
		}
		if best == nil || b.load > best.load {
			best = b
		}
	}
	return best
}

func (p *pool) nearest(to int) (n int) {
	n = 1 << 30
	for _, b := range p.all {
		n = min(n, b.load-to) //@ none 1
	}
	return n
}

func highest(all []*backend) (n int) {
	for _, b := range all {
		n = max(n, b.load) //@ extreme 5
	}
	return n
}

func made(n int) (most int) {
	all := make([]int, n)
	for i := range all {
		all[i] = i * n % 1009
	}
	for _, x := range all {
		if x > most { //@ none 2
			most = x
		}
	}
	return most
}

func (p *pool) zone(zone string) (best *backend) {
	for _, b := range p.all {
		if b.healthy && b.zone == zone { //@ extreme 6
			if best == nil {
				best = b
			} else if b.load < best.load {
				best = b
			}
		}
	}
	return best
}

func (p *pool) chosen(ok func(*backend) bool) (at int) {
	at = -1
	for i := range p.all {
		switch {
		case !ok(p.all[i]): //@ extreme 7
		case at < 0 || p.all[i].load < p.all[at].load:
			at = i
		}
	}
	return at
}

func (p *pool) snapshot() []*backend {
	var all []*backend
	for _, b := range p.all {
		all = append(all, b)
	}
	return all
}

func (p *pool) copied() (best *backend) {
	for _, b := range p.snapshot() {
		if b.load == 0 { //@ extreme 8
			return b
		}
		if best == nil || b.load < best.load {
			best = b
		}
	}
	return best
}

func (p *pool) left() (best *backend) {
	least := 0
	for _, b := range p.all {
		load := b.load //@ extreme 10
		if best != nil && load >= least {
			continue
		}
		best, least = b, load
	}
	return best
}

func (p *pool) record() *backend {
	var best struct {
		load int
		at   *backend
	}
	all := append([]*backend(nil), p.all...)
	for _, b := range all {
		if load := b.load; best.at == nil || load < best.load { //@ extreme 9
			best.load, best.at = load, b
		}
	}
	return best.at
}

func (p *pool) compared() (best *backend) {
	for _, b := range p.all {
		if best == nil || strings.Compare(b.zone, best.zone) < 0 { //@ extreme 11
			best = b
		}
	}
	return best
}

type merged struct {
	keys [][]byte
	cmp  func(a, b []byte) int
	at   int
}

func (m *merged) next() []byte {
	var key []byte
	for i, k := range m.keys {
		if k != nil && (key == nil || m.cmp(k, key) < 0) { //@ extreme 12
			key = k
			m.at = i
		}
	}
	return key
}

// closest depends on what was asked for.
func (m *merged) closest(to []byte) []byte {
	var key []byte
	for i, k := range m.keys {
		if m.cmp(k, to) > 0 && (key == nil || m.cmp(k, key) < 0) { //@ extreme 13
			key = k
			m.at = i
		}
	}
	return key
}

func (p *pool) distant(to string) (best *backend) {
	for _, b := range p.all {
		if best == nil || strings.Compare(b.zone+to, best.zone) < 0 { //@ none 4
			best = b
		}
	}
	return best
}

func (p *pool) total(zone string) (n, most int) {
	for _, b := range p.all {
		if b.zone != zone { //@ none 3
			continue
		}
		n += b.load
		if b.load > most {
			most = b.load
		}
	}
	return n, most
}

func main() {}
`
	for name, place := range ruletest.Places(t, src) {
		sh, ok := shapeOf(place, place.Loop(), func(*ast.IfStmt) bool { return false })
		if got := ok && sh.kind == extreme; got != strings.HasPrefix(name, "extreme") {
			t.Errorf("%s: found %v", name, got)
		}
	}
}

// TestGuarded: searches with several tests of each element, in loops of their own, from the end,
// and with a bound that the loop changes.
func TestGuarded(t *testing.T) {
	const src = `package main

type alert struct {
	labels map[string]string
	name   string
	over   bool
}

func (a *alert) resolved() bool { return a.over }

type rule struct {
	all   []*alert
	equal []string
}

func (r *rule) first(want map[string]string) *alert {
next:
	for _, a := range r.all {
		if a.resolved() { //@ search 1
			continue
		}
		for _, n := range r.equal {
			if a.labels[n] != want[n] {
				continue next
			}
		}
		return a
	}
	return nil
}

func (r *rule) every(want map[string]string) (found []*alert) {
	for _, a := range r.all {
		same := true
		for k, v := range want {
			if a.labels[k] != v { //@ outer 1
				same = false
				break
			}
		}
		if same {
			found = append(found, a)
		}
	}
	return found
}

func (r *rule) live(name string) (found []*alert) {
	for _, a := range r.all {
		if a.over { //@ search 2
			continue
		}
		if a.name == name {
			found = append(found, a)
		}
	}
	return found
}

func (r *rule) latest(name string) *alert {
	for i := len(r.all) - 1; i >= 0; i-- {
		if r.all[i].name == name { //@ search 3
			return r.all[i]
		}
	}
	return nil
}

type item interface{ replaces(other *alert) bool }

func (r *rule) push(b item, a *alert) {
	n := len(r.all)
	for i := 0; i < n; i++ {
		if b.replaces(r.all[i]) { //@ search 4
			copy(r.all[i:], r.all[i+1:])
			r.all = r.all[:n-1]
			n--
		}
	}
	r.all = append(r.all, a)
}

// total uses all elements that are not over.
func (r *rule) total(name string) (n int) {
	for _, a := range r.all {
		if a.over { //@ none 1
			continue
		}
		n += len(a.labels)
	}
	return n
}

func (r *rule) count(want map[string]string) (n int) {
	for _, a := range r.all {
		for k := range want {
			if a.labels[k] == "" { //@ outernone 1
				n++
			}
		}
		n++
	}
	return n
}

func (r *rule) backwards() (n int) {
	for i := len(r.all) - 1; i >= 0; i-- {
		n += len(r.all[i].name) //@ none 2
	}
	return n
}

func main() {}
`
	for name, place := range ruletest.Places(t, src) {
		loop := place.Loop()
		if strings.HasPrefix(name, "outer") {
			loop = loops.Around(place, loop)[0].(ast.Stmt)
		}
		_, ok := shapeOf(place, loop, func(*ast.IfStmt) bool { return false })
		if ok == strings.Contains(name, "none") {
			t.Errorf("%s: found %v", name, ok)
		}
	}
}

// TestUnusual: loops that first do something for a few elements.
func TestUnusual(t *testing.T) {
	const src = `package main

type span struct {
	ref      string
	from, to int
}

func (s *span) holds(n int) bool { return s.from <= n && n <= s.to }

type sheet struct{ merged []*span }

func (s *sheet) of(n int) string {
	for i := 0; i < len(s.merged); i++ {
		if s.merged[i] == nil { //@ search 1
			s.merged = append(s.merged[:i], s.merged[i+1:]...)
			i--
			continue
		}
		if s.merged[i].to == 0 {
			s.merged[i].to = len(s.merged[i].ref)
		}
		if s.merged[i].holds(n) {
			return s.merged[i].ref
		}
	}
	return ""
}

func (s *sheet) named(ref string, n int) *span {
	for _, m := range s.merged {
		if m.to == 0 { //@ search 2
			return m
		}
		if m.ref == ref {
			return m
		}
	}
	return nil
}

func (s *sheet) length() (n int) {
	for _, m := range s.merged {
		if m == nil { //@ none 1
			continue
		}
		n += m.to - m.from
	}
	return n
}

func (s *sheet) fill(n int) {
	for _, m := range s.merged {
		if m.to == 0 { //@ none 2
			m.to = n
		}
	}
}

func main() {}
`
	for name, place := range ruletest.Places(t, src) {
		_, ok := shapeOf(place, place.Loop(), func(*ast.IfStmt) bool { return true })
		if want := strings.HasPrefix(name, "search"); ok != want {
			t.Errorf("%s: found %v", name, ok)
		}
	}
}
