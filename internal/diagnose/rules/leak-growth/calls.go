package leakgrowth

import (
	"slices"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// mostThrough is the share of a line's live memory above which one call of the program explains it.
const mostThrough = 0.8

// grownCalls returns the lines that grew, and the lines of the program that call other modules or
// the standard library in which memory grew: a registry to which each request adds allocates on
// many lines of its own, all called from one line of the program. Each line refers to the call that
// explains it.
func grownCalls(p *rule.Pass) (lines []growth, calls []*growth) {
	type key struct {
		function, file string
		line           int
		callee         string
	}
	through := map[key]*growth{}
	var order []key
	for _, g := range p.Growth {
		s := p.Site(&g.Frame)
		if s == nil || len(s.Live) == 0 {
			continue
		}
		live, _ := stacks.Sum(s.Live)
		made, _ := stacks.Sum(s.Allocs)
		var most, called int64
		callee := ""
		var main key // the call that most of it passes through
		parts := map[key]int64{}
		for _, r := range s.Live {
			i := outward(r)
			if i < 0 || live <= 0 {
				continue
			}
			f := r.Stack[i]
			if f.Line == g.Line && f.Function == g.Function && f.File == g.File {
				if called += r.Value; 2*called > live {
					callee = r.Stack[i-1].Function
				}
				continue // the line itself, charged with what it calls of the standard library
			}
			k := key{f.Function, f.File, f.Line, r.Stack[i-1].Function}
			if through[k] == nil {
				through[k] = &growth{Site: p.Site(f), callee: k.callee}
				order = append(order, k)
			}
			through[k].live = append(through[k].live, r)
			parts[k] += r.Value
			if parts[k] > most {
				most, main = parts[k], k
			}
		}
		for k, part := range parts {
			share := float64(part) / float64(live)
			c := through[k]
			c.bytes += int64(share * float64(g.Bytes))
			c.objects += int64(share * float64(g.Objects))
			c.made += int64(share * float64(made))
		}
		l := growth{Site: s, bytes: g.Bytes, objects: g.Objects, made: made, live: s.Live, callee: callee}
		if most > 0 && float64(most) >= mostThrough*float64(live) {
			l.through = through[main]
		}
		lines = append(lines, l)
	}
	for _, k := range order {
		if !absorbed(lines, through[k]) {
			calls = append(calls, through[k])
		}
	}
	return lines, calls
}

// absorbed adds the growth of a call to that of its own line, if that is one of the lines: a line
// gets one finding.
func absorbed(lines []growth, c *growth) bool {
	for i := range lines {
		if l := &lines[i]; l.Site == c.Site {
			if l.bytes < c.bytes {
				l.callee = c.callee
			}
			l.bytes, l.objects, l.made, l.live = l.bytes+c.bytes, l.objects+c.objects, l.made+c.made, append(slices.Clip(l.live), c.live...)
			return true
		}
	}
	return false
}

// outward returns the index of the frame of the program nearest the leaf that calls another module;
// -1 if the program's own line allocates.
func outward(r *site.Row) int {
	for i, f := range r.Stack {
		if f.Owner.Kind != gocode.Main {
			continue
		}
		if i == 0 || r.Stack[i-1].Owner.Kind == gocode.Main {
			return -1
		}
		return i
	}
	return -1
}
