package requests

import (
	"slices"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests/internal/servers"
	"github.com/hone-go/hone/profile/symbol"
)

// Where a function is interrupted, the frame of its caller may be missing: see
// [exectrace.Interrupted]. If main.handle called main.hash, the stack then shows main.hash right
// below net/http.HandlerFunc, where main.handle should be. So a function that is known as a handler
// only from such stacks is a candidate until the trace is over. Its other stacks decide, those of
// CPU samples above all.

// candidate is a function that may be a handler: the handlers above it, as far as its stacks show
// them.
type candidate struct{ outer map[uint16]bool }

// noteCandidate records a chain whose last function may not be a handler, and returns its name.
func (f *Fold) noteCandidate(role servers.Role, chain []string) uint16 {
	last := len(chain) - 1
	outer, id := f.noteChain(role, chain[:last]), f.nameID(chain[last])
	if role == servers.Delegate {
		f.addCandidate(HTTP1, outer, id)
		f.addCandidate(HTTP2, outer, id)
	} else {
		f.addCandidate(protocolOf(role), outer, id)
	}
	return id
}

func (f *Fold) addCandidate(p Protocol, outer, id uint16) {
	if id == 0 {
		return
	}
	k := routeKey{p, id}
	d, ok := f.candidates[k]
	if !ok {
		d = candidate{map[uint16]bool{}}
		f.candidates[k] = d
	}
	d.outer[outer] = true
}

// settleCandidates decides about all candidates when the trace is over. A function that a handler
// calls in a complete stack is not a handler. Nor is one of the standard library: it has few
// handlers, and those call something. A function of which nothing else is known is taken for a
// handler.
func (f *Fold) settleCandidates() {
	if len(f.candidates) == 0 {
		return
	}
	sure := map[routeKey]bool{}
	for outer, names := range f.inner {
		for name := range names {
			sure[routeKey{outer.protocol, name}] = true
		}
	}
	callers := f.callers()
	f.resolved = map[routeKey]routeKey{}
	for k, d := range f.candidates {
		by := callers[k]
		switch {
		case sure[k]:
		case len(by) == 1:
			f.resolved[k] = routeKey{k.protocol, only(by)}
		case len(by) > 1 || symbol.Standard(symbol.Package(f.names[k.name])):
			to := routeKey{protocol: k.protocol}
			if len(d.outer) == 1 {
				to.name = only(d.outer)
			}
			f.resolved[k] = to
		default:
			f.guessed = append(f.guessed, k)
		}
	}
	for _, k := range f.guessed {
		for outer := range f.candidates[k].outer {
			f.noteBelow(routeKey{k.protocol, outer}, []string{f.names[k.name]})
		}
	}
}

// only returns the one member of a set.
func only(set map[uint16]bool) uint16 {
	for name := range set {
		return name
	}
	return 0
}

// callers returns, for each candidate, the handlers that call it in complete stacks.
func (f *Fold) callers() map[routeKey]map[uint16]bool {
	out := map[routeKey]map[uint16]bool{}
	for id := range f.classes {
		if f.classes[id].place != servers.InHandler || f.classes[id].name == 0 {
			continue
		}
		frames := f.src.Frames(exectrace.StackID(id))
		if exectrace.Interrupted(frames) >= 0 {
			continue
		}
		_, role, _ := servers.Classify(frames)
		handler := f.names[f.classes[id].name]
		for i := range frames {
			if frames[i].Func == handler {
				break
			}
			k := routeKey{protocolOf(role), f.nameIDs[frames[i].Func]}
			if _, ok := f.candidates[k]; !ok {
				continue
			}
			if out[k] == nil {
				out[k] = map[uint16]bool{}
			}
			out[k][f.classes[id].name] = true
		}
	}
	return out
}

// settled returns the route that replaces k if its name turned out not to be a handler.
func (f *Fold) settled(k routeKey) routeKey {
	for range 32 {
		to, ok := f.resolved[k]
		if !ok {
			break
		}
		k = to
	}
	return k
}

// isGuessed reports whether it is still unknown whether a route's name is a handler.
func (f *Fold) isGuessed(k routeKey) bool {
	return slices.Contains(f.guessed, k)
}
