// Package batchbarrier finds loops that start goroutines in batches and wait for the slowest of
// each batch.
package batchbarrier

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// fewest batches, and goroutines in each of them, that show a pattern.
	fewest, smallest = 8, 3
	// leastShare of the program's or the requests' time that they wait for batches.
	leastShare = 0.2
	// mostBusy is the largest share of the batch's places that are busy on average: goroutines of
	// about the same length leave few idle.
	mostBusy = 0.8
	// leastBlocked is the minimum share of their time in which the goroutines wait: computing
	// goroutines do not get faster when more places are busy.
	leastBlocked = 0.5
	// mostOthers is the largest share of the waits for groups of goroutines that may be for others.
	mostOthers = 0.05
)

// fraction of the idle places' time that the program saves. Tasks that are long still end late.
var fraction = rule.Fraction{Expect: 0.9, Low: 0.4, High: 1}

// Rule is batch-barrier.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "batch-barrier",
		Kind:   rule.Block,
		Needs:  []rule.Need{rule.NeedTrace},
		Title:  "Each batch of goroutines waits for its slowest",
		Doc:    doc,
		Finder: finder.Trace{Specificity: 1, Judge: find},
	}
}

const doc = `To limit how many goroutines run at a time, a loop starts a batch
of them, waits for all, and starts the next batch. Each batch takes as long as
its slowest task, and the places of the other tasks stay idle until then: with
eight requests of very different lengths, five of eight places may be idle on
average. No CPU profile shows it.

Limit the number that runs at a time instead, and start the next task when one
finishes: errgroup.Group with SetLimit, a channel with room for n as a
semaphore, or n workers that receive from one channel. Wait once, after the
loop.

It is fine where a batch needs the results of the previous one, as in a
breadth-first search, and where the batch is the unit, as in a transaction. The
rule reports only loops over positions or parts that are known in advance,
goroutines that mostly wait, and batches in which at most 80 % of the places are
busy.

Seen in the field: ReactiveX/RxGo#168.`

func find(p *rule.Pass) []rule.Match {
	total := traced.LatencyTotal(p)
	if p.Trace.Goroutines == nil || p.Syntax == nil || total <= 0 {
		return nil
	}
	var matches []rule.Match
	for i := range p.Trace.Goroutines.Groups {
		b := batches{pass: p, Group: &p.Trace.Goroutines.Groups[i]}
		if b.waits() && b.locate() && b.count() && b.seconds >= leastShare*total && b.busy() <= mostBusy {
			matches = append(matches, b.match(total))
		}
	}
	return matches
}

// batches are goroutines with one function that a loop starts and waits for.
type batches struct {
	pass *rule.Pass
	*wall.Group
	batch
	site    *site.Site // of the call that waits
	n       float64    // goroutines in a batch
	seconds float64    // of waiting for them
	waited  int64      // batches
}

// waits reports whether the goroutines are many, end, and mostly wait.
func (b *batches) waits() bool {
	if b.Runtime || b.Created < fewest*smallest || b.Ended == 0 {
		return false
	}
	var off float64
	for _, p := range b.Parts {
		if p.What == "blocked" || p.What == "syscall" {
			off += p.Seconds
		}
	}
	return off >= leastBlocked*b.Seconds
}

// locate finds the loop in the source.
func (b *batches) locate() bool {
	for _, s := range b.Spawns {
		if at := traced.SiteAt(b.pass, s.Line); at != nil {
			if place := b.pass.Place(at); place != nil && b.find(b.pass, place) {
				return b.at(at.Frame)
			}
		}
	}
	// A package such as errgroup has the go statement: the function literal was passed to it.
	f := frameOf(b.pass, b.Function)
	if f == nil {
		return false
	}
	place := b.pass.Place(&site.Site{Frame: *f})
	return place != nil && b.find(b.pass, place) && b.at(*f)
}

// at sets the site: the line that waits, in the function around the literal of a frame.
func (b *batches) at(f site.Frame) bool {
	if lit := strings.LastIndex(f.Function, ".func"); lit > 0 && f.Function == b.Function {
		f.Function = f.Function[:lit]
	}
	f.Line = syntax.Line(b.place, b.wait.Pos())
	b.site = traced.SiteAt(b.pass, exectrace.Line{Function: f.Function, File: f.File, Line: f.Line})
	return b.site != nil
}

// frameOf returns a frame of a function in the profiles; nil for none.
func frameOf(p *rule.Pass, function string) *site.Frame {
	var found *site.Frame
	look := func(r *site.Row) {
		for _, f := range r.Stack {
			if found == nil && f.Function == function {
				found = f
			}
		}
	}
	p.EachRow(look)
	for _, s := range p.Table.Sites {
		for _, rows := range [][]*site.Row{s.Allocs, s.Block} {
			for _, r := range rows {
				look(r)
			}
		}
	}
	return found
}

// count sums up the waits for the batches. It reports false where waits for other groups may be
// among them.
func (b *batches) count() bool {
	library := b.library()
	var created, others int64
	for _, g := range b.pass.Trace.Goroutines.Groups {
		for _, s := range g.Spawns {
			if library != "" && strings.HasPrefix(s.Line.Function, library) {
				created += s.Created
				if g.Function != b.Function {
					others += s.Created
				}
			}
		}
		for _, s := range g.Stacks {
			if s.What != "blocked" {
				continue
			}
			own := s.Line.File == b.site.File && s.Line.Line == b.site.Line
			if own || library != "" && s.Line.Function == library+"Wait" {
				b.seconds += s.Seconds
				b.waited += s.Count
			}
		}
	}
	if b.waited < fewest || float64(others) > mostOthers*float64(created) {
		return false
	}
	b.n = float64(b.Created) / float64(b.waited)
	return b.n >= smallest
}

// library is the type, with its package and a dot, whose method waits, if that is outside of the
// standard library and so owns the line of the wait.
func (b *batches) library() string {
	if strings.HasPrefix(b.place.CalleeName(b.wait), "(*golang.org/x/sync/errgroup.Group)") {
		return "golang.org/x/sync/errgroup.(*Group)."
	}
	return ""
}

// busy is the share of the batch's places that are busy on average.
func (b *batches) busy() float64 { return b.Seconds / (b.seconds * b.n) }

func (b *batches) match(total float64) rule.Match {
	saved := b.seconds - b.Seconds/b.n
	name := syntax.FuncName(b.in)
	places := units.Count(int64(math.Ceil(b.n))) // the last batch may be smaller
	fix := fmt.Sprintf("Start the next goroutine when one finishes: use a channel with room for %s as a semaphore, or %[1]s workers that receive from a channel, and wait once after the loop.", places)
	if b.library() != "" {
		fix = fmt.Sprintf("Use one group for the whole loop, with SetLimit(%s), and call Wait once after it: the next goroutine then starts when one finishes.", places)
	}
	line := syntax.Line(b.in, b.loop.Pos())
	return rule.Match{
		Site:       b.site,
		Confidence: rule.Likely, // that the next batch does not need this one's results is what the loop looks like
		Saving:     fraction.Saving(saved, total),
		Cause: fmt.Sprintf("The loop on line %d of %s starts %s goroutines at a time and waits for all of them before it starts the next batch. A batch takes %s, as long as its slowest goroutine; a goroutine takes %s on average. On average only %s of the %[3]s places are busy.",
			line, name, places, units.Seconds(b.seconds/float64(b.waited)), units.Seconds(b.Seconds/float64(b.Created)), units.Number(b.busy()*b.n)),
		Fix: fix + " If a batch needs the results of the previous one, leave it unchanged.",
		Evidence: []rule.Evidence{{
			What:    fmt.Sprintf("goroutines started on line %d of %s", syntax.Line(b.place, b.spawn.Pos()), filepath.Base(b.site.File)),
			Value:   fmt.Sprintf("%s, %s in all; waited for %s times, %s in all", units.Count(b.Created), units.Seconds(b.Seconds), units.Count(b.waited), units.Seconds(b.seconds)),
			Command: evidence.ViewCommand(b.pass, "goroutines"),
		}},
	}
}
