package gogc

import "math"

const (
	// LeastShare is the part of a program's CPU that collection must take before a setting is worth a finding.
	LeastShare = 0.05
	// MayUse is the part of the memory that a larger heap may fill: the rest is for
	// bursts of live memory and for the neighbours.
	MayUse = 0.5
	// guard is the part of the memory at which GOMEMLIMIT makes the collector work again.
	guard = 0.75
	// LeastHeap is the heap below which the runtime does not collect at GOGC=100, in bytes;
	// it scales with GOGC (runtime/mgcpacer.go, heapMinimum).
	LeastHeap = 4 << 20
	// nearLeast times its least is a heap's goal that the least still decides.
	nearLeast = 1.5
	// manyCycles a second make the fixed cost of a collection count: starting and ending it, and
	// scanning stacks and package variables.
	manyCycles = 20
)

// Heap is what the choice of a larger GOGC rests on. Sizes are in bytes.
type Heap struct {
	GOGC   int     // now, percent; not positive: off or not known
	Live   float64 // after the last cycle
	Used   float64 // that the process holds
	Memory float64 // that it may hold
}

// candidates for GOGC, best first. Beyond 400 the next doubling saves an eighth
// of the work for twice the memory.
func candidates() []int { return []int{400, 300, 200} }

// Larger returns the best GOGC that memory allows; 0 for none, also where a figure is not known.
func (h Heap) Larger() int {
	if h.GOGC <= 0 || !(h.Live > 0) || !(h.Used > 0) || !(h.Memory > 0) {
		return 0
	}
	for _, next := range candidates() {
		if next > h.GOGC && h.Used+h.Price(next) <= MayUse*h.Memory {
			return next
		}
	}
	return 0
}

// Paced is the live heap that the runtime paces by.
func (h Heap) Paced() float64 { return math.Max(h.Live, LeastHeap) }

// Price is the memory that another GOGC takes on top, in bytes.
func (h Heap) Price(next int) float64 { return h.Paced() * float64(next-h.GOGC) / 100 }

// Guard is the GOMEMLIMIT that makes the collector work more again when live memory grows, in
// bytes: a whole number of MiB with two digits that count.
func (h Heap) Guard() int64 {
	mib := guard * h.Memory / (1 << 20)
	unit := math.Pow(10, math.Max(0, math.Floor(math.Log10(math.Max(mib, 1)))-1))
	return int64(math.Floor(mib/unit)*unit) << 20
}

// Tiny reports whether the heap is so small that the runtime's least heap decides when to collect,
// and that happens many times a second: goal is the heap's goal in bytes, cycles are those
// of a second. What is live then hardly matters.
func Tiny(gogc int, goal, cycles float64) bool {
	return gogc > 0 && goal > 0 && cycles >= manyCycles && goal <= nearLeast*LeastHeap*float64(gogc)/100
}
