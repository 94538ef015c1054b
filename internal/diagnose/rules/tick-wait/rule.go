// Package tickwait finds requests that wait for a goroutine which waits for a timer.
package tickwait

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// leastShare of the requests' time that they must wait.
	leastShare = 0.2
	// leastIdle is the minimum share of a goroutine's time that it waits for its timer.
	leastIdle = 0.5
	// lasting is the minimum mean lifetime of the goroutines, as a share of the trace.
	lasting = 0.8
	// mostEnded is the minimum share of the wait that the goroutine ends.
	mostEnded = 0.5
	// fewest is how many times as long requests must wait as all of them would if they waited
	// whenever the goroutine works.
	fewest = 2
	// mostSteps is how many calls lie between the goroutine's loop and the line that wakes
	// requests.
	mostSteps = 3
)

// Rule is tick-wait.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "tick-wait",
		Kind:   rule.Block,
		Needs:  []rule.Need{rule.NeedTrace},
		Title:  "Requests wait for the next tick of a timer",
		Doc:    doc,
		Finder: finder.Trace{Judge: find},
	}
}

const doc = `A goroutine collects what requests want to have written or looked up, and
handles it when a timer fires or a batch is full. While fewer requests run at a
time than a batch needs, every one of them waits for the timer, half an interval
on average, and nobody works meanwhile.

Let the goroutine handle what is there as soon as it has nothing else to do:
take all that has arrived, handle it, and take what arrived meanwhile. Batches
then grow with the load by themselves, and a request alone waits for its own
work only. A library has a setting for the interval (BatchTimeout in kafka-go: a
second by default); for a request that waits, some milliseconds are long.

Instead of a goroutine, time.AfterFunc may handle what has come some time after
the first request of a batch.

The same holds for workers that look for work, sleep if there is none, and look
again: what arrives meanwhile waits until the sleep is over, though all workers
are idle. Wake them when work is added: a channel, a sync.Cond, or a call of the
store that blocks until there is something.

It is fine where nobody waits for the result. The rule reports waits of a fifth
of the requests' time and more which end in a goroutine that waits for a timer
most of the time.

Seen in the field: segmentio/kafka-go#326, segmentio/kafka-go#1180 (a second for
each message), graph-gophers/dataloader#110; hibiken/asynq#506 (workers
that sleep for a second when the queue is empty).`

func find(p *rule.Pass) []rule.Match {
	if p.Trace.Goroutines == nil || p.Trace.Requests == nil || p.Syntax == nil {
		return nil
	}
	for i := range p.Trace.Goroutines.Groups {
		b := batcher{pass: p, group: &p.Trace.Goroutines.Groups[i]}
		if !b.idles() {
			continue
		}
		t := traced.LongestQueue(p, leastShare, b.ends)
		if t == nil || !awaited.HandsOver(p, t) {
			continue
		}
		busy := max(0, b.group.Seconds-b.idle)
		inFlight := max(1, t.Total/t.Length)
		if t.Waited >= fewest*inFlight*busy {
			return []rule.Match{b.match(t)}
		}
	}
	return byTimer(p)
}

// batcher is goroutines that were started with one function and wait for a timer.
type batcher struct {
	pass  *rule.Pass
	group *wall.Group
	idle  float64       // seconds that they wait for it
	place *gocode.Place // where
	empty bool          // only when they found nothing to do
	calls []string      // names of the functions that the loop there calls, as profiles have them
}

// idles reports whether the goroutines wait for a timer most of the time.
func (b *batcher) idles() bool {
	g := b.group
	if n := g.Found + g.Created; g.Runtime || g.Seconds < lasting*float64(n)*b.pass.Trace.Parallelism.Length {
		return false // of the runtime, or started for a request
	}
	for i := range g.Stacks {
		s := &g.Stacks[i]
		if s.What != "blocked" || s.Seconds < leastIdle*g.Seconds {
			continue
		}
		at := traced.SiteAt(b.pass, s.Line)
		if at == nil {
			continue
		}
		place := b.pass.Place(at)
		if place == nil {
			continue
		}
		if b.empty = sleepsWhenEmpty(place); b.empty || ticks(place) {
			b.idle, b.place = s.Seconds, place
			b.calls = reached(place)
			return true
		}
	}
	return false
}

// reached returns the names of the function around a place and of those of its module that it
// calls, as profiles have them.
func reached(p *gocode.Place) []string {
	names := []string{syntax.ProfileName(p)}
	seen := map[*types.Func]bool{}
	var visit func(p *gocode.Place, body ast.Node, steps int)
	visit = func(p *gocode.Place, body ast.Node, steps int) {
		ast.Inspect(body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			fn := p.Callee(call)
			if fn == nil || seen[fn] || fn.Pkg() != p.Pkg {
				return true
			}
			seen[fn] = true
			decl := p.Declaration(fn)
			if decl == nil || decl.Body == nil {
				return true
			}
			inner := p.Entry(decl)
			names = append(names, syntax.ProfileName(inner))
			if steps > 1 {
				visit(inner, decl.Body, steps-1)
			}
			return true
		})
	}
	visit(p, syntax.Body(p), mostSteps)
	return names
}

// ends reports whether the goroutines, or those that they start, end most waits of requests at a
// place.
func (b *batcher) ends(place *requests.PlaceTime) bool {
	switch place.Part {
	case requests.WaitChanSend, requests.WaitChanReceive, requests.WaitSelect, requests.WaitCond, requests.WaitSync:
	default:
		return false
	}
	own := func(function string) bool {
		return slices.ContainsFunc(b.calls, func(name string) bool {
			return function == name || strings.HasPrefix(function, name+".func")
		})
	}
	var by float64
	for _, w := range place.Wakers {
		if w.Line != nil && (own(w.Line.Function) || own(w.Start)) {
			by += w.Share - w.InHandlers
		}
	}
	return by >= mostEnded
}

func (b *batcher) match(t *traced.Queue) rule.Match {
	name := symbol.Short(funcname.Typed(b.calls[0]))
	idle := units.Percent(b.idle / b.group.Seconds)
	where := syntax.Where(b.place, b.place.Nodes[len(b.place.Nodes)-1].Pos())
	cause := fmt.Sprintf("Requests spend %s of their time waiting for %s, which waits for a timer meanwhile (%s): it is idle for %s of the time, and answers what has arrived at each tick.",
		t.Share(), name, where, idle)
	fix := fmt.Sprintf("Let %s handle what has arrived as soon as it is idle, without waiting for the timer: take all that is there, handle it, and start again; batches then grow with the load by themselves. Or make the interval (a batch timeout) much shorter.", name)
	if b.empty {
		cause = fmt.Sprintf("Requests spend %s of their time waiting for work that %s has not taken yet: when it finds nothing to do, it sleeps (%s), and what arrives meanwhile waits until the sleep is over. It sleeps for %s of the time.",
			t.Share(), name, where, idle)
		fix = fmt.Sprintf("Wake %s when work is added, instead of polling with a sleep: wait for a channel or a sync.Cond that the sender signals, or use the blocking call of the store (BLPOP in Redis, LISTEN in PostgreSQL). Until then, make the sleep much shorter; a library may have a setting for it.", name)
	}
	return rule.Match{
		Site:       t.Site,
		Confidence: rule.Likely, // batches may be wanted
		Saving:     t.Saving(),
		Cause:      cause,
		Fix:        fix,
		Evidence: append(t.Evidence(b.pass, name, "mostly ended at"),
			rule.Evidence{What: name + " waiting for its timer", Value: idle + " of its time", Command: evidence.ViewCommand(b.pass, "goroutines")}),
	}
}
