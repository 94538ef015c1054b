package requests

import (
	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests/internal/servers"
)

// A request whose handler did nothing that the tracer records is attributed to the handler that all
// observed requests reached. That is right for a handler that is observed by chance, because it is
// preempted or waits for a lock: the requests in which it was observed are a random sample. It is
// wrong for a handler that is observed every time, because it sleeps or calls a database: a request
// without a trace of it was answered by another handler (a health check, say), and the trace does
// not show by which.

// findObservedByChance finds, when the trace is over, the handlers in which requests were observed
// by chance.
func (f *Fold) findObservedByChance() {
	f.observedByChance = map[routeKey]bool{}
	sure := map[exectrace.StackID]bool{}
	for outer, names := range f.inner {
		if len(names) == 1 {
			k := f.settled(routeKey{outer.protocol, only(names)})
			if _, known := f.observedByChance[k]; !known {
				f.observedByChance[k] = f.byChance(f.below(k), sure)
			}
		}
	}
}

// below returns a handler and all that it was observed to call, directly or indirectly.
func (f *Fold) below(k routeKey) map[routeKey]bool {
	set := map[routeKey]bool{}
	for todo := []routeKey{k}; len(todo) > 0; {
		k, todo = f.settled(todo[len(todo)-1]), todo[:len(todo)-1]
		if set[k] {
			continue
		}
		set[k] = true
		for name := range f.inner[k] {
			todo = append(todo, routeKey{k.protocol, name})
		}
	}
	return set
}

// byChance reports whether some request was observed in one of the handlers without doing anything
// there that is always recorded.
func (f *Fold) byChance(handlers map[routeKey]bool, sure map[exectrace.StackID]bool) bool {
	for _, r := range f.routes.list {
		if r.other || !handlers[f.settled(routeKey{r.protocol, r.name})] {
			continue
		}
		for _, s := range r.strata {
			for i := 0; s != nil && i < len(s.kept); i++ {
				if !f.alwaysRecorded(s.kept[i].waits, r.protocol, handlers, sure) {
					return true
				}
			}
		}
	}
	return false
}

// alwaysRecorded reports whether a request did something in one of the handlers that the tracer
// always records: a system call, a wait for the network, or a sleep. Reads and writes of its own
// connection do not count: the body may have been read already, and the response may be too small
// to be written.
func (f *Fold) alwaysRecorded(waits []wait, p Protocol, handlers map[routeKey]bool, sure map[exectrace.StackID]bool) bool {
	for i := range waits {
		w := &waits[i]
		if w.part != InSyscall && w.part != WaitSleep && w.part != WaitNetwork || w.waiter == 0 {
			continue
		}
		if c := f.classes[w.waiter]; c.place != servers.InHandler || !handlers[f.settled(routeKey{p, c.name})] {
			continue
		}
		s, known := sure[w.waiter]
		if !known {
			frames := f.src.Frames(w.waiter)
			s = !servers.Calls(frames, "net/http.(*connReader).Read") && !servers.Calls(frames, "net/http.checkConnErrorWriter.Write")
			sure[w.waiter] = s
		}
		if s {
			return true
		}
	}
	return false
}
