package requests

import (
	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests/internal/servers"
)

// class is what a stack says about the request of its goroutine. Each stack is classified once.
type class struct {
	place servers.Place
	depth uint8  // in a handler: twice the number of handlers that wrap each other, less one if the innermost is uncertain
	name  uint16 // in a handler: the route, an index of Fold.names; 0 when the stack does not say
	gc    bool   // in the garbage collector, whose locks are not the program's
}

// classify classifies the stacks that are new.
func (f *Fold) classify(stacks int) {
	for id := len(f.classes); id < stacks; id++ {
		frames := f.src.Frames(exectrace.StackID(id))
		place, role, chain := servers.Classify(frames)
		c := class{place: place, gc: exectrace.InCollector(frames)}
		switch {
		case len(chain) == 0:
		case servers.IsUncertain(frames, chain[len(chain)-1]):
			c.name, c.depth = f.noteCandidate(role, chain), uint8(min(2*len(chain), delegateDepth)-1)
		default:
			c.name, c.depth = f.noteChain(role, chain), uint8(min(2*len(chain), delegateDepth-1))
		}
		f.classes = append(f.classes, c)
		var mark concern
		if c.place != servers.Nowhere {
			mark = placed
		}
		f.stackMarks = append(f.stackMarks, mark)
		entry := servers.NoRole
		if len(frames) > 0 {
			entry = servers.RoleOf(frames[len(frames)-1].Func)
		}
		f.entries = append(f.entries, entry)
	}
}

// protocolOf returns the protocol by which a goroutine of a role serves requests, 0 if it serves
// none.
func protocolOf(role servers.Role) Protocol {
	switch role {
	case servers.HTTP1:
		return HTTP1
	case servers.HTTP2:
		return HTTP2
	case servers.GRPC:
		return GRPC
	}
	return 0
}

// nameID returns the index of a route's name in f.names. Names after the 65,535th are dropped: no
// program has that many handlers.
func (f *Fold) nameID(route string) uint16 {
	id, ok := f.nameIDs[route]
	if !ok && len(f.names) < 1<<16-1 {
		id = uint16(len(f.names))
		f.names = append(f.names, route)
		f.nameIDs[route] = id
	}
	return id
}

// routeKey identifies a route: the name is an index of Fold.names.
type routeKey struct {
	protocol Protocol
	name     uint16
}

// noteChain records which handler wraps which, and returns the name of the innermost. The stack of
// a delegate does not show the protocol of its request, so its handlers are recorded for both
// protocols.
func (f *Fold) noteChain(role servers.Role, chain []string) uint16 {
	if role != servers.Delegate {
		return f.noteBelow(routeKey{protocolOf(role), 0}, chain)
	}
	outer := f.nameID(servers.TimeoutHandler)
	f.noteBelow(routeKey{HTTP2, outer}, chain)
	return f.noteBelow(routeKey{HTTP1, outer}, chain)
}

// noteBelow records a chain of handlers below outer, and returns the name of the innermost.
func (f *Fold) noteBelow(outer routeKey, chain []string) uint16 {
	for _, name := range chain {
		id := f.nameID(name)
		if id == 0 || id == outer.name {
			continue
		}
		if f.inner[outer] == nil {
			f.inner[outer] = map[uint16]bool{}
		}
		f.inner[outer][id] = true
		outer.name = id
	}
	return outer.name
}

// innermost returns the handler to which requests that are known to have reached k are attributed:
// the handler below it, if all requests that were observed further in went to the same one and some
// of them were observed there by chance.
func (f *Fold) innermost(k routeKey) routeKey {
	k = f.settled(k)
	for range 32 { // a handler may call itself
		if len(f.inner[k]) != 1 {
			break
		}
		next := routeKey{k.protocol, only(f.inner[k])}
		if !f.observedByChance[f.settled(next)] {
			break
		}
		k = next
	}
	return k
}
