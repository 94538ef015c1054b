package site

import (
	"strings"

	"github.com/hone-go/hone/internal/gocode"
)

// judge determines the class of a stack and the line to charge.
func (s *stack) judge(nodes []*node) {
	s.owner = -1
	if measuring(nodes) {
		s.class = Probe
		return
	}
	s.class = classify(nodes)
	switch s.class {
	case Assist, MarkWorker, IdleMark, Sweep:
		s.bucket = collectorBucket(s.class, nodes)
		s.coarse = s.class == MarkWorker && !splits(nodes)
		return
	}
	s.blame(nodes)
	if s.blamed == nil {
		s.bucket = bucketOf(nodes)
	}
}

// measuring reports whether a stack belongs to the measurement: the probe, the handlers of
// net/http/pprof, and the goroutines with which runtime/pprof and runtime/trace collect.
func measuring(nodes []*node) bool {
	for _, n := range nodes {
		if n.probe || n.endpoint {
			return true
		}
	}
	for i := len(nodes) - 1; i >= 0; i-- {
		if !nodes[i].runtime {
			return nodes[i].collector
		}
	}
	return false
}

// classify returns the class of a stack that does not belong to the measurement. The collector's
// frame nearest the leaf decides, unless a call forced the collection.
func classify(nodes []*node) Class {
	class := Work
	malloc := false
	for _, n := range nodes {
		if n.forces {
			return Work
		}
		if class == Work {
			class = n.class
		}
		malloc = malloc || n.allocates
	}
	if class == Work && malloc {
		return Malloc
	}
	return class
}

// splits reports whether a stack shows what kind of mark worker it is.
func splits(nodes []*node) bool {
	drains := false
	for _, n := range nodes {
		if n.split {
			return true
		}
		drains = drains || n.base == "runtime.gcDrain"
	}
	return !drains
}

func collectorBucket(class Class, nodes []*node) string {
	switch class {
	case Assist:
		return bucketAssists
	case MarkWorker:
		return bucketMark
	case IdleMark:
		return bucketIdleMark
	}
	for _, n := range nodes {
		if n.class == Sweep {
			if n.base == "runtime.bgsweep" || n.base == "runtime.bgscavenge" {
				return bucketSweep
			}
			return bucketCycle
		}
	}
	return bucketCycle
}

// blame charges a stack to its first frame, from the leaf, that a module owns, and finds the line
// of the main module that calls it.
func (s *stack) blame(nodes []*node) {
	for i, n := range nodes {
		if !n.module {
			continue
		}
		s.owner, s.blamed = i, n
		for _, above := range nodes[i+1:] {
			if above.module && above.trait.owner.Kind == gocode.Main && above.Function != n.Function {
				s.entry = above
				return
			}
		}
		return
	}
}

// bucketOf names the work of a stack that has no module's frame. The frame nearest the root shows
// whose goroutine it is; only the runtime's own goroutines are named by what they do. The runtime
// also writes samples without any frame, at the start of a goroutine.
func bucketOf(nodes []*node) string {
	unknown := false
	for i := len(nodes) - 1; i >= 0; i-- {
		n := nodes[i]
		switch {
		case n.initialise:
			return bucketInit
		case n.finalise:
			return bucketFinalizers
		case n.foreign:
			unknown = true
		case !n.runtime:
			return goroutinesOf(n)
		}
	}
	for _, n := range nodes {
		if n.activity != "" {
			return n.activity
		}
	}
	if unknown {
		return bucketNoSymbols
	}
	return bucketRuntime
}

// goroutinesOf names the goroutines that a package of the standard library starts.
func goroutinesOf(n *node) string {
	pkg := packageOf(n.trait)
	if pkg != "net/http" && !strings.HasPrefix(pkg, "net/http/internal/") {
		return pkg + ": own goroutines"
	}
	for _, prefix := range servers {
		if strings.HasPrefix(n.Function, prefix) {
			return bucketHTTPServer
		}
	}
	return bucketHTTPClient
}
