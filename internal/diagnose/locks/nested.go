package locks

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// forLock returns the longest wait of the trace for another lock below the lines of a section in a
// file; nil for none. A line may wait for a lock in other calls, too: the profile of waits shows
// which part of its waiting is below the section.
func (s *Section) forLock(p *rule.Pass, file string) *Blocked {
	below := s.lockWaits(p, file)
	length := p.Trace.Parallelism.Length
	var most *Blocked
	for i := range p.Trace.Blocking.Waits {
		w := &p.Trace.Blocking.Waits[i]
		if w.Object != "mutex" && w.Object != "rwmutex" || s.waitsAt(p, file, w.Line) {
			continue
		}
		for _, b := range below {
			if b.at.Line != w.Line.Line || b.at.File != w.Line.File || b.all == 0 {
				continue
			}
			lengths := w.Seconds / length * float64(b.section) / float64(b.all)
			if lengths >= leastBlocked && (most == nil || lengths > most.lengths) {
				most = &Blocked{Line: b.line, Wait: w, lengths: lengths, within: symbol.Short(funcname.Typed(w.Line.Function))}
				most.other = otherHolder(p, w)
			}
		}
	}
	return most
}

// lockWait is the waiting for locks at a frame, in nanoseconds, and the part of it below a section.
type lockWait struct {
	at           *site.Frame
	line         int // of the section
	all, section int64
}

// lockWaits returns the waiting for locks in the profile of waits, of frames below a section.
func (s *Section) lockWaits(p *rule.Pass, file string) map[site.Frame]*lockWait {
	_, whole := s.place.Func.(*ast.FuncDecl)
	found := map[site.Frame]*lockWait{}
	for _, other := range p.Table.Sites {
		for _, r := range other.Block {
			at := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return funcname.Match(f.Function, Locks()...) }) + 1
			if at == 0 || at >= len(r.Stack) {
				continue
			}
			w := found[*r.Stack[at]]
			if w == nil {
				w = &lockWait{at: r.Stack[at]}
				found[*r.Stack[at]] = w
			}
			w.all += r.Value
			for _, f := range r.Stack[at:] {
				if f.File == file && f.Line > s.From && f.Line < s.To && !(whole && strings.Contains(f.Function, ".func")) {
					w.section += r.Value
					w.line = f.Line
					break
				}
			}
		}
	}
	return found
}

// waitsAt reports whether goroutines wait on a line for the section's own lock, or for one that the
// trace does not tell from it.
func (s *Section) waitsAt(p *rule.Pass, file string, line exectrace.Line) bool {
	own := func(w wall.Waker) bool { return w.Line.File == file && w.Line.Line >= s.From && w.Line.Line <= s.To }
	return slices.ContainsFunc(p.Trace.Blocking.Locks, func(l wall.Lock) bool {
		return slices.ContainsFunc(l.Waiters, func(w wall.Waker) bool { return w.Line == line }) && slices.ContainsFunc(l.Holders, own)
	})
}

// otherHolder says where the lock of a wait is held, and what its holder waits for, in a sentence
// with a space before it; "" if that is not known.
func otherHolder(p *rule.Pass, w *wall.Wait) string {
	if len(w.Wakers) == 0 || p.Syntax == nil {
		return ""
	}
	l := w.Wakers[0].Line
	place, ok := p.Syntax.At(l.File, l.Line)
	if !ok {
		return ""
	}
	sections := Sections(place)
	if len(sections) == 0 {
		return ""
	}
	sec := sections[0]
	where := func(line int) string { return fmt.Sprintf("%s:%d", base(l.File), line) }
	words := fmt.Sprintf(" %s (%s) holds that lock, %s", syntax.FuncName(place), where(sec.From), syntax.Text(sec.Mutex))
	if b := sec.outsideLocks(p, l.File); b != nil {
		words += fmt.Sprintf(", while it waits %s on line %d", b.what(), b.Line)
	}
	return words + "."
}

// unlocked is the advice for a section that waits for a lock which it takes itself; "" for other
// waits.
func (s *Section) unlocked(b *Blocked) string {
	for _, call := range s.Calls() {
		if b.Wait.Object == "" || syntax.Line(s.place, call.Lparen) != b.Line || !syntax.OnMutex(s.place, call) {
			continue
		}
		mutex, other := syntax.Text(s.Mutex), syntax.Text(syntax.Receiver(call))
		return fmt.Sprintf("Unlock %s before line %d locks %s: whoever waits there makes all others wait for %s, whatever they need. If entries are removed, count under %s who uses or waits for each.",
			mutex, b.Line, other, mutex, mutex)
	}
	return ""
}

// copied is the advice for a line of a section that waits in a loop over what the mutex guards; ""
// for other lines.
func (s *Section) copied(line int) string {
	for _, call := range s.Calls() {
		if syntax.Line(s.place, call.Lparen) != line {
			continue
		}
		loop, ok := s.place.LoopAround(call).(*ast.RangeStmt)
		if !ok || loop.Pos() < s.start || !s.guards(loop.X) {
			continue
		}
		return fmt.Sprintf("Do not wait with %s held: copy the elements of %s, unlock, then run the loop over the copy.", syntax.Text(s.Mutex), syntax.Text(loop.X))
	}
	return ""
}

// guards reports whether an expression is a field beside the mutex.
func (s *Section) guards(e ast.Expr) bool {
	mutex, ok := ast.Unparen(s.Mutex).(*ast.SelectorExpr)
	field, is := ast.Unparen(e).(*ast.SelectorExpr)
	return ok && is && syntax.Same(s.place, mutex.X, field.X)
}
