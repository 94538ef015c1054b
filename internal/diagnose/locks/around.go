package locks

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// Around is a critical section of a function that locks and unlocks in functions which it calls: a
// transaction of an embedded database, from Begin to Commit.
type Around struct {
	Section
	Frame *site.Frame // of the function, on the line that unlocks
	Entry *site.Frame // of the main module: the function, or what calls it
}

// AroundOf returns the section that ends with a site's Unlock, if its Lock is in another function:
// the nearest function whose calls, in the profiles of contention, lead to both. It is nil if there
// is none, or none below a line of the main module.
func AroundOf(p *rule.Pass, s *site.Site) *Around {
	if p.Syntax == nil {
		return nil
	}
	unlocked, above := longest(p, Unlocks(), func(r *site.Row, at int) bool { return r.Stack[at].File == s.File && r.Stack[at].Line == s.Line })
	if unlocked == nil {
		return nil
	}
	mutex := mutexAt(p, unlocked.Stack[above], Unlocks())
	if mutex == nil {
		return nil
	}
	locked, from := longest(p, Locks(), func(r *site.Row, at int) bool {
		other := mutexAt(p, r.Stack[at], Locks())
		return other != nil && other.variable == mutex.variable
	})
	if locked == nil {
		return nil
	}
	for i, f := range unlocked.Stack[above:] {
		j := slices.IndexFunc(locked.Stack[from:], func(g *site.Frame) bool { return g.Function == f.Function && g.File == f.File })
		if j < 0 {
			continue
		}
		return between(p, locked.Stack[from+j], f, unlocked.Stack[above+i:], mutex.name)
	}
	return nil
}

// longest returns the row of contention with the most waiting, of those in which a function is
// called where at says so, and the index of the frame that calls it.
func longest(p *rule.Pass, functions []string, at func(r *site.Row, caller int) bool) (most *site.Row, caller int) {
	for _, s := range p.Table.Sites {
		for _, r := range slices.Concat(s.Mutex, s.Block) {
			i := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return funcname.Match(f.Function, functions...) }) + 1
			if i > 0 && i < len(r.Stack) && (most == nil || r.Value > most.Value) && at(r, i) {
				most, caller = r, i
			}
		}
	}
	return most, caller
}

// owned is the mutex of a call: its field or variable, and the expression.
type owned struct {
	variable *types.Var
	name     ast.Expr
}

// mutexAt returns the mutex that a line locks or unlocks; nil for none.
func mutexAt(p *rule.Pass, f *site.Frame, functions []string) *owned {
	place, ok := p.Syntax.At(f.File, f.Line)
	if !ok {
		return nil
	}
	for _, call := range syntax.CallsOf(place, funcname.TypedAll(functions)...) {
		if to := syntax.Receiver(call); to != nil && syntax.Named(place, to) != nil {
			return &owned{syntax.Named(place, to), to}
		}
	}
	return nil
}

// between returns the section of a function from one line to another; callers are the frames from
// the function on.
func between(p *rule.Pass, lock, unlock *site.Frame, callers []*site.Frame, mutex ast.Expr) *Around {
	entry := slices.IndexFunc(callers, func(f *site.Frame) bool { return f.Owner.Kind == gocode.Main })
	place, ok := p.Syntax.At(unlock.File, unlock.Line)
	if entry < 0 || !ok || lock.Line >= unlock.Line {
		return nil
	}
	a := &Around{Section: Section{Mutex: mutex, From: lock.Line, To: unlock.Line, place: place, end: syntax.Body(place).End()}, Frame: unlock, Entry: callers[entry]}
	own(place, func(n ast.Node) {
		if call, ok := n.(*ast.CallExpr); ok {
			switch line := syntax.Line(place, call.Lparen); {
			case line == lock.Line && a.Lock == nil:
				a.Lock, a.start = call, call.End()
			case line == unlock.Line && a.Unlock == nil:
				a.Unlock, a.end = call, call.Pos()
			}
		}
	})
	if a.Lock == nil {
		return nil
	}
	return a
}

// Describe says what runs in the section and what to do about it: the wait of the trace that it
// leads to, or the line of the main module below it with most of the CPU; false if neither is
// known.
func (a *Around) Describe(p *rule.Pass) (cause, fix string, ok bool) {
	name := symbol.Short(funcname.Typed(a.Frame.Function))
	cause = fmt.Sprintf(" %s holds it from line %d to %d of %s.", name, a.From, a.To, base(a.Frame.File))
	if a.Frame.Owner.Kind == gocode.Main {
		fix = fmt.Sprintf("between line %d and %d", a.From, a.To)
	} else {
		fix = fmt.Sprintf("in what %s calls", name)
	}
	if b := a.Blocked(p, a.Frame.File); b != nil {
		where := fmt.Sprintf("%s:%d", base(b.Wait.Line.File), b.Wait.Line.Line)
		return fmt.Sprintf("%s %s (%s).", cause, b.Words(), where), fmt.Sprintf("Do not wait %s: get what is needed before, and only read and store there.", fix), true
	}
	at, share := a.busiest(p)
	if at == nil {
		return "", "", false
	}
	return cause + fmt.Sprintf(" %s of the CPU there is below %s:%d (%s).", units.Percent(share), base(at.File), at.Line, symbol.Short(funcname.Typed(at.Function))),
		fmt.Sprintf("Do as little as possible %s: compute what does not need the lock before, and only read and store there.", fix), true
}

func base(file string) string { return file[strings.LastIndexAny(file, `/\`)+1:] }

const (
	// leastBusy is the minimum number of samples in a section, and mostBusy the minimum share of
	// them below the line that is named.
	leastBusy = 10
	mostBusy  = 0.25
)

// busiest returns the line of the main module below which the section spends the most CPU, and its
// share of the section's CPU; nil for none.
func (a *Around) busiest(p *rule.Pass) (*site.Frame, float64) {
	sums := map[site.Frame]int64{}
	var all, samples int64
	p.EachRow(func(r *site.Row) {
		at := slices.IndexFunc(r.Stack, func(f *site.Frame) bool {
			return f.Function == a.Frame.Function && f.File == a.Frame.File && f.Line > a.From && f.Line < a.To
		})
		if at < 0 || stacks.Calls(r, Locks()...) {
			return
		}
		all, samples = all+r.Value, samples+r.Count
		if i := slices.IndexFunc(r.Stack[:at], func(f *site.Frame) bool { return f.Owner.Kind == gocode.Main }); i >= 0 {
			sums[*r.Stack[i]] += r.Value
		}
	})
	if samples < leastBusy {
		return nil, 0
	}
	var most *site.Frame
	for f, sum := range sums {
		if most == nil || sum > sums[*most] || sum == sums[*most] && (f.File < most.File || f.File == most.File && f.Line < most.Line) {
			most = &f
		}
	}
	if most == nil || float64(sums[*most]) < mostBusy*float64(all) {
		return nil, 0
	}
	return most, float64(sums[*most]) / float64(all)
}
