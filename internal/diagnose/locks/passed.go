package locks

import (
	"fmt"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// Passed says where the CPU below a line goes that calls a function which the section does not
// know, such as one that it gets, and what to do about it; "" for other lines, and if no line of
// that function has most of it.
func (s *Section) Passed(p *rule.Pass, file string, line int) (cause, fix string) {
	unknown := false
	for _, call := range s.Calls() {
		fn := s.place.Callee(call)
		unknown = unknown || syntax.Line(s.place, call.Lparen) == line && (fn == nil || fn.Signature().Recv() != nil && types.IsInterface(fn.Signature().Recv().Type()))
	}
	if !unknown {
		return "", ""
	}
	sums := map[site.Frame]int64{}
	var most *site.Frame
	var all int64
	p.EachRow(func(r *site.Row) {
		at := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.File == file && f.Line == line })
		if at < 0 {
			return
		}
		all += r.Value
		for at--; at >= 0 && !ofMain(r.Stack[at]); {
			at--
		}
		if at < 0 {
			return
		}
		f := r.Stack[at]
		if sums[*f] += r.Value; most == nil || sums[*f] > sums[*most] {
			most = f
		}
	})
	if most == nil || float64(sums[*most]) < mostBusy*float64(all) {
		return "", ""
	}
	in, given := named(p, most), s.giver(p, most)
	cause = fmt.Sprintf(" %s of that is in %s.", units.Percent(float64(sums[*most])/float64(all)), in)
	mutex := syntax.Text(s.Mutex)
	switch {
	case s.serves(line):
		return cause, s.moved(line, given)
	case given == "":
		return cause, fmt.Sprintf("Do the part of %s that does not need %s before Lock, or after Unlock on a copy; else split what it guards by key.", in, mutex)
	}
	return cause, fmt.Sprintf("Let the function that %s passes only read, copy and store: do the part of line %d that does not need %s before, or on a copy after it returns. Else split what %s guards by key.",
		given, most.Line, mutex, mutex)
}
