package site

import (
	"strings"

	"github.com/hone-go/hone/internal/gocode"
)

// judge finds out what a stack spends on and whom to charge.
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

// measuring reports whether a stack is the measurement's own: the probe, the
// handlers of net/http/pprof, and the goroutines by which runtime/pprof and
// runtime/trace collect.
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

// classify finds the class of a stack that is not the measurement's. The
// collector's frame nearest the leaf decides, unless the collection was asked for by a call.
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

// splits reports whether a stack shows which kind of mark worker it is.
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

// blame charges a stack to its first frame from the leaf that a module owns,
// and looks for the main module's line that calls it.
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

// bucketOf names what a stack without a module's frame does. The frame nearest
// the root tells whose goroutine it is; only the runtime's own are named by what they do. The
// runtime also writes samples without any frame, at the start of a goroutine.
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

// goroutinesOf names the goroutines that a package of the standard library began.
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
