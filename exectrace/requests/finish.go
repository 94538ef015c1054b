package requests

import (
	"cmp"
	"slices"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests/internal/servers"
)

// finish takes a request that is over: at now, unless its response was written before.
func (f *Fold) finish(l *live, now int64) {
	if l.carrier {
		l.reset()
		return
	}
	if l.phase < done {
		l.pause(now)
	}
	l.waits = l.waits[:l.kept]
	l.settle()
	if l.cut {
		f.cut++
		l.reset()
		return
	}
	f.count[l.protocol]++
	if f.opt.Ended != nil {
		f.opt.Ended(l.id, l.begin, l.end)
	}
	f.routes.at(l).take(l, &f.routes)
	f.cpu.take(l)
	if f.paths != nil && f.opt.PathOf == l.id {
		f.startPath(f.paths.gs[l.g], l.begin, l.end, uint32(l.id))
		f.paths.stop = f.paths.last
	}
	if f.slow.wants(l.end - l.begin) {
		q := f.request(l)
		if f.paths != nil {
			q.Path = f.paths.request(f, l)
		}
		f.slow.put(q)
	}
	l.reset()
}

// settle sets the times that were not seen to the end of the request.
func (l *live) settle() {
	if l.handled < 0 {
		l.handled = l.end
	}
	if l.handler < 0 { // its goroutine never ran
		l.handler, l.readEnd = l.end, l.end
	}
}

// request returns a copy of a request.
func (f *Fold) request(l *live) Request {
	l.merge()
	q := Request{
		ID: l.id, key: routeKey{l.protocol, l.name}, Protocol: l.protocol, Task: l.taskName, Goroutine: l.goid,
		Begin: l.begin, Latency: l.end - l.begin, Queued: l.readEnd - l.begin, Head: l.handler - l.readEnd, Handler: l.handled - l.handler,
		After: l.end - l.handled, Parts: l.parts.list(), waits: slices.Clone(l.waits), Samples: len(l.samples),
	}
	for _, r := range l.regions {
		if r.time >= 0 {
			q.Regions = append(q.Regions, RegionTime{r.name, r.time})
		}
	}
	return q
}

// describe turns waits into lines.
func (f *Fold) describe(ws []wait) []Wait {
	var out []Wait
	for _, w := range ws {
		out = append(out, Wait{
			Part: w.part, NoIdle: w.busy, Count: int(w.n), Time: w.ns,
			Waiter: f.line(w.waiter), Caller: lineOrNil(f.src.Caller(w.waiter)), Waker: f.line(w.waker), Object: f.object(w.waiter, w.part),
		})
	}
	sortWaits(out)
	return out
}

// line returns the line that a stack is blamed on, nil for no stack.
func (f *Fold) line(s exectrace.StackID) *exectrace.Line {
	if s == 0 {
		return nil
	}
	return lineOrNil(f.src.Blame(s))
}

func lineOrNil(l exectrace.Line) *exectrace.Line {
	if l == (exectrace.Line{}) {
		return nil
	}
	return &l
}

// end takes the requests that are open when the trace ends.
func (f *Fold) end(src source) {
	f.src = src
	if f.continues != nil {
		f.continueRun()
		return
	}
	f.length = src.Now()
	for _, l := range f.unfinished() {
		if l.phase == done { // answered; its connection was not read again
			f.finish(l, f.length)
			continue
		}
		if l.cut {
			f.cut++
			continue
		}
		f.charge(l, f.length, l.now)
		l.end = f.length
		l.settle()
		q := f.request(l)
		if f.paths != nil {
			q.Path = f.paths.walk(f, f.paths.upTo(f, l.g, f.length), l.begin, l.end, uint32(l.id))
		}
		f.open = append(f.open, q)
	}
	f.settleCandidates()
	f.findObservedByChance()
	if f.opt.PathOf == 0 {
		f.startRun()
	}
	f.slow.sort()
	sortRequests(f.open)
}

// sample takes a CPU sample.
func (f *Fold) sample(e *exectrace.Event) {
	f.cpu.total++
	own := f.of(e.G)
	l := own
	if own != nil {
		l = own.owner()
	} else if int(e.G) < len(f.children) {
		if c := f.children[e.G]; c.of != nil && c.of.id == c.id {
			l = c.of
		}
	}
	if l == nil || l.phase != arriving && l.phase != handling && l.phase != finishing {
		f.cpu.add(sampleKey{stack: e.Stack})
		return
	}
	if len(l.samples) < maxSamples {
		l.samples = append(l.samples, e.Stack)
	} else { // a long request: its samples are counted under the name that it has by now
		f.cpu.add(sampleKey{l.protocol, l.name, e.Stack})
	}
	// A sample may name the route but says nothing about order: samples have a clock of their own.
	if c := f.classes[e.Stack]; c.place == servers.InHandler && l.phase == handling && own != nil {
		f.observe(own, c, e.Time)
	}
}

// unfinished returns the open requests in the order in which they began. Which requests are kept
// depends on the order in which they finish, so it must not depend on the indices of their
// goroutines.
func (f *Fold) unfinished() []*live {
	var open []*live
	for _, l := range f.live {
		if l != nil && l.phase >= handling && !l.carrier {
			open = append(open, l)
		}
	}
	slices.SortFunc(open, func(a, b *live) int { return cmp.Compare(a.id, b.id) })
	return open
}
