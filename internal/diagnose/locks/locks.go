package locks

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Section is a critical section: what a function does between locking and unlocking a mutex.
type Section struct {
	Lock, Unlock *ast.CallExpr // Lock is nil if callers lock the mutex, see [Of]
	Mutex        ast.Expr      // "c.mu", or the value that embeds it
	Read         bool          // a read lock, which only excludes writers
	Deferred     bool          // unlocked by defer, so held to the end of the function
	From, To     int           // lines of its first and last position

	place      *gocode.Place
	start, end token.Pos // of what runs in it
	own        []string  // what it is held for, see [Held]: calls of these are not waits for others
}

// Unlocks are the functions that end a critical section, as profiles name them.
func Unlocks() []string {
	return []string{"sync.(*Mutex).Unlock", "sync.(*RWMutex).Unlock", "sync.(*RWMutex).RUnlock"}
}

// Locks are the functions that start a critical section, as profiles name them.
func Locks() []string {
	return []string{"sync.(*Mutex).Lock", "sync.(*RWMutex).Lock", "sync.(*RWMutex).RLock"}
}

// Sections returns the critical sections that end on the place's line: by an Unlock there or, when
// there is none, by the function's deferred ones, which run on the line that returns.
func Sections(p *gocode.Place) []*Section {
	var found []*Section
	for _, u := range ends(p) {
		if s := section(p, u); s != nil {
			found = append(found, s)
		}
	}
	if len(found) > 0 {
		return found
	}
	for _, call := range returnedUnlocks(p) {
		if s := takenFrom(p, call); s != nil {
			found = append(found, s)
		}
	}
	return found
}

// returnedUnlocks returns the calls of function values on the place's line or, when there is none,
// the deferred ones before it: functions that unlock may be returned by those that lock.
func returnedUnlocks(p *gocode.Place) []*ast.CallExpr {
	var calls []*ast.CallExpr
	for _, call := range syntax.Calls(p) {
		if p.CalleeName(call) == "" {
			calls = append(calls, call)
		}
	}
	own(p, func(n ast.Node) {
		if d, ok := n.(*ast.DeferStmt); ok && syntax.Line(p, d.Pos()) <= p.Line && p.CalleeName(d.Call) == "" {
			calls = append(calls, d.Call)
		}
	})
	return calls
}

// ends returns the calls of Unlock on the place's line or, when there is none, the deferred ones.
func ends(p *gocode.Place) []*ast.CallExpr {
	var unlocks []*ast.CallExpr
	for _, call := range syntax.Calls(p) {
		if unlocking(p, call) {
			unlocks = append(unlocks, call)
		}
	}
	if len(unlocks) == 0 {
		return deferred(p)
	}
	return unlocks
}

// Ending returns the critical sections that end on a site's line, and the place where they do. A
// function literal that returns at its end runs its deferred calls on the line of its closing
// brace, which syntax alone gives to the function around it.
func Ending(p *rule.Pass, s *site.Site) (*gocode.Place, []*Section) {
	place := p.Place(s)
	if place == nil {
		return nil, nil
	}
	if found := Sections(place); len(found) > 0 || !strings.Contains(s.Function, ".func") {
		return place, found
	}
	last, ok := p.Syntax.At(s.File, s.Line-1)
	if !ok {
		return place, nil
	}
	if lit, ok := last.Func.(*ast.FuncLit); !ok || syntax.Line(last, lit.Body.Rbrace) != s.Line {
		return place, nil
	}
	if found := Sections(last); len(found) > 0 && found[0].Deferred {
		return last, found
	}
	return place, nil
}

// unlocking and locking report whether a call is of a mutex, a type that wraps one, or a
// sync.Locker.
func unlocking(p *gocode.Place, call *ast.CallExpr) bool {
	name := methodName(p, call)
	return name == "Unlock" || name == "RUnlock"
}

func locking(p *gocode.Place, call *ast.CallExpr) bool {
	name := methodName(p, call)
	return name == "Lock" || name == "RLock"
}

// methodName returns the name of the method that a call calls without arguments, or with the key of
// a lock among several; "" for other calls.
func methodName(p *gocode.Place, call *ast.CallExpr) string {
	fn := p.Callee(call)
	if fn == nil || fn.Signature().Recv() == nil || len(call.Args) > 1 {
		return ""
	}
	if len(call.Args) == 1 {
		if t, ok := p.TypeOf(call.Args[0]).Underlying().(*types.Basic); !ok || t.Info()&(types.IsString|types.IsInteger) == 0 {
			return ""
		}
	}
	return fn.Name()
}

// keyOf returns the key with which a lock among several is locked; nil for none.
func keyOf(call *ast.CallExpr) ast.Expr {
	if len(call.Args) == 1 {
		return call.Args[0]
	}
	return nil
}

// WritesNothing reports whether a section takes a lock for writing, although its function changes
// nothing that the lock could guard: a read lock would do.
func (s *Section) WritesNothing() bool {
	t := s.place.TypeOf(s.Mutex)
	if t == nil || s.Read || strings.TrimPrefix(t.String(), "*") != "sync.RWMutex" {
		return false
	}
	return effects.OnlyReads(s.place.Outer())
}

// Above returns the critical section that a site unlocks for its callers, as a method that wraps a
// mutex does: of the callers in the mutex profile, the one that ends most waiting. place is where
// the section ends; nil when there is none.
func Above(p *rule.Pass, s *site.Site) (place *gocode.Place, section *Section, at *site.Frame) {
	if p.Syntax == nil {
		return nil, nil, nil
	}
	var most *site.Row
	for _, other := range p.Table.Sites {
		if other.File != s.File || other.Line != s.Line {
			continue
		}
		for _, r := range other.Mutex {
			if most == nil || r.Value > most.Value {
				most = r
			}
		}
	}
	if most == nil || most.Owner < 0 {
		return nil, nil, nil
	}
	for _, f := range most.Stack[most.Owner+1:] {
		if f.Owner.Kind != gocode.Main && f.Owner.Kind != gocode.Dependency {
			return nil, nil, nil
		}
		place, ok := p.Syntax.At(f.File, f.Line)
		if !ok {
			return nil, nil, nil
		}
		if sections := Sections(place); len(sections) > 0 {
			return place, sections[0], f
		}
	}
	return nil, nil, nil
}

// deferred returns the calls of Unlock that the function of the place defers before its line.
func deferred(p *gocode.Place) []*ast.CallExpr {
	var calls []*ast.CallExpr
	own(p, func(n ast.Node) {
		if d, ok := n.(*ast.DeferStmt); ok && syntax.Line(p, d.Pos()) <= p.Line && unlocking(p, d.Call) {
			calls = append(calls, d.Call)
		}
	})
	return calls
}

// own visits the nodes of the place's function outside of its function literals.
func own(p *gocode.Place, visit func(ast.Node)) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok && ast.Node(lit) != p.Func {
			return false
		}
		if n != nil {
			visit(n)
		}
		return true
	})
}

// section returns the section that an Unlock ends; nil when the Lock of the same mutex is in
// another function.
func section(p *gocode.Place, unlock *ast.CallExpr) *Section {
	mutex := syntax.Receiver(unlock)
	if mutex == nil {
		return nil
	}
	s := &Section{Unlock: unlock, Mutex: mutex, place: p, end: unlock.Pos()}
	s.Read = methodName(p, unlock) == "RUnlock"
	_, s.Deferred = syntax.Parent(p, unlock).(*ast.DeferStmt)
	if s.Deferred {
		s.end = syntax.Body(p).End()
	}
	own(p, func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || !locking(p, call) || s.Read != (methodName(p, call) == "RLock") {
			return
		}
		x := syntax.Receiver(call)
		// Of an Unlock the last one before it; of a deferred one, the first in the function.
		key, other := keyOf(call), keyOf(unlock)
		if (key == nil) != (other == nil) || key != nil && types.ExprString(key) != types.ExprString(other) {
			return
		}
		if x != nil && call.Pos() < s.end && syntax.Same(p, x, mutex) && (s.Lock == nil || !s.Deferred) {
			s.Lock = call
		}
	})
	if s.Lock == nil {
		return nil
	}
	s.start = s.Lock.End()
	s.From, s.To = syntax.Line(p, s.start), syntax.Line(p, s.end)
	return s
}

// Once returns a line that runs once for each time that the mutex is held.
func (s *Section) Once() int {
	if s.Lock == nil {
		return syntax.Line(s.place, s.Unlock.Pos())
	}
	return syntax.Line(s.place, s.Lock.Pos())
}

// Calls returns the calls between Lock and Unlock, in the order of the source, without conversions,
// builtins and the contents of function literals.
func (s *Section) Calls() []*ast.CallExpr {
	var calls []*ast.CallExpr
	own(s.place, func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || call == s.Lock || call == s.Unlock || call.Pos() < s.start || call.Pos() >= s.end {
			return
		}
		if _, conversion := s.place.Conversion(call); conversion || isBuiltin(s.place, call) {
			return
		}
		calls = append(calls, call)
	})
	return calls
}

// CalledOn returns the names of the functions that the section calls on a line, in brackets: "
// (entry.Format)"; "" for none.
func (s *Section) CalledOn(line int) string {
	var names []string
	for _, c := range s.Calls() {
		if syntax.Line(s.place, c.Lparen) == line {
			names = append(names, cmp.Or(s.place.CalleeName(c), syntax.Text(c.Fun)))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

func isBuiltin(p *gocode.Place, call *ast.CallExpr) bool {
	tv, ok := p.Info.Types[call.Fun]
	return ok && tv.IsBuiltin()
}

// Locking returns the CPU rows in which some lines of a file call some functions, those that lock
// and unlock.
func Locking(p *rule.Pass, file string, from, to int, functions ...string) []*site.Row {
	var rows []*site.Row
	for _, s := range p.Table.Sites {
		if s.File == file && from <= s.Line && s.Line <= to {
			rows = append(rows, calling(s, functions...)...)
		}
	}
	return rows
}

// FirstReturn reports whether a site is the first line of a section that runs its deferred unlock:
// a section with several returns is reported once.
func FirstReturn(p *rule.Pass, s *site.Site, from, to int, unlock string) bool {
	for line := from; line < s.Line; line++ {
		if at := SiteOn(p, s, line); at != nil && len(calling(at, unlock)) > 0 {
			return false
		}
	}
	return s.Line <= to && len(calling(s, unlock)) > 0
}

// Waited returns the rows of the mutex profile that a section's Unlock ended: if it is deferred,
// they are on the lines that return.
func (s *Section) Waited(p *rule.Pass, file string) []*site.Row {
	var rows []*site.Row
	for _, other := range p.Table.Sites {
		if other.File == file && other.Line >= min(s.From, syntax.Line(s.place, s.Unlock.Pos())) && other.Line <= s.To {
			rows = append(rows, stacks.Select(other.Mutex, func(r *site.Row) bool { return stacks.Calls(r, Unlocks()...) })...)
		}
	}
	return rows
}

func calling(s *site.Site, functions ...string) []*site.Row {
	return stacks.Select(s.CPU, func(r *site.Row) bool { return stacks.Calls(r, functions...) })
}

// SiteOn returns the site on another line of a site's function; nil if that has no cost.
func SiteOn(p *rule.Pass, s *site.Site, line int) *site.Site {
	for _, other := range p.Table.Sites {
		if other.File == s.File && other.Line == line && other.Function == s.Function {
			return other
		}
	}
	return nil
}

// Queueing returns the CPU rows of the queue for a section's mutex: its Lock spins, goes to sleep
// or is woken, and its Unlock wakes the next goroutine.
func Queueing(p *rule.Pass, file string, place *gocode.Place, sec *Section) []*site.Row {
	slow := func(name string, calls []string) func(*site.Row) bool {
		return func(r *site.Row) bool {
			return stacks.Calls(r, calls...) && (r.Below("internal/sync.(*Mutex)."+name) || r.Below("sync.(*Mutex)."+name))
		}
	}
	var rows []*site.Row
	lock := 0
	if sec.Lock != nil {
		lock = syntax.Line(place, sec.Lock.Lparen)
	}
	for _, s := range p.Table.Sites {
		if s.File != file {
			continue
		}
		if s.Line == lock {
			rows = append(rows, stacks.Select(s.CPU, slow("lockSlow", Locks()))...)
		}
		if s.Line >= sec.From && s.Line <= sec.To {
			rows = append(rows, stacks.Select(s.CPU, slow("unlockSlow", Unlocks()))...)
		}
	}
	return rows
}
