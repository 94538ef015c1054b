package requests

import (
	"slices"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests/internal/servers"
	"github.com/hone-go/hone/profile/symbol"
)

// Where a function is interrupted, its caller may be missing: see [exectrace.Interrupted]. main.hash, which main.handle
// called, then stands where main.handle should, right above net/http.HandlerFunc. So a handler that is only known as the
// function that was interrupted is in doubt until the trace is over: what its other stacks say of it decides, those of
// CPU samples above all.

// doubt is about a function that may be a handler: the handlers above it, as far as those stacks go.
type candidate struct{ outer map[uint16]bool }

// noteDoubt notes that the last of a chain of handlers may be none, and returns its name.
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

// decide settles all doubts, when the trace is over. A function that was seen called by a handler is none; nor is one of the
// standard library, which has few, and those call something. A function of which nothing else is known is taken for one.
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

// only is the one member of a set.
func only(set map[uint16]bool) uint16 {
	for name := range set {
		return name
	}
	return 0
}

// callers returns below which handlers the functions in doubt were seen, by stacks that lack nothing.
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

// settled is the route that stands for one in which a function was taken for a handler.
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

// isGuessed reports whether a route's name is in doubt still.
func (f *Fold) isGuessed(k routeKey) bool {
	return slices.Contains(f.guessed, k)
}
