package gogc

import "math"

const (
	// LeastShare is the minimum share of collection in CPU at which a setting is worth a finding.
	LeastShare = 0.05
	// MayUse is the part of the memory that a larger heap may fill: the rest is for bursts of live
	// memory and for other processes.
	MayUse = 0.5
	// guard is the part of the memory to which GOMEMLIMIT is set.
	guard = 0.75
	// LeastHeap is the heap size below which the runtime does not collect at GOGC=100, in bytes; it
	// is proportional to GOGC (runtime/mgcpacer.go, heapMinimum).
	LeastHeap = 4 << 20
	// nearLeast is the factor within which a heap goal counts as determined by the minimum.
	nearLeast = 1.5
	// manyCycles is the number of cycles per second from which their fixed cost matters: starting
	// and ending them, and scanning stacks and package variables.
	manyCycles = 20
)

// Heap is the input of the choice of a larger GOGC. Sizes are in bytes.
type Heap struct {
	GOGC   int     // current value in percent; not positive: off or unknown
	Live   float64 // after the last cycle
	Used   float64 // by the process
	Memory float64 // that the process may use
}

// candidates returns the values of GOGC to consider, best first. Beyond 400, doubling it again
// saves an eighth of the work for twice the memory.
func candidates() []int { return []int{400, 300, 200} }

// Larger returns the best GOGC that the memory allows; 0 if there is none, or if a figure is
// unknown.
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

// Paced returns the live heap by which the runtime paces collections.
func (h Heap) Paced() float64 { return math.Max(h.Live, LeastHeap) }

// Price returns the additional memory of another GOGC, in bytes.
func (h Heap) Price(next int) float64 { return h.Paced() * float64(next-h.GOGC) / 100 }

// Guard returns the GOMEMLIMIT that makes the collector work more again when live memory grows, in
// bytes: a whole number of MiB with two significant digits.
func (h Heap) Guard() int64 {
	mib := guard * h.Memory / (1 << 20)
	unit := math.Pow(10, math.Max(0, math.Floor(math.Log10(math.Max(mib, 1)))-1))
	return int64(math.Floor(mib/unit)*unit) << 20
}

// Tiny reports whether the heap is so small that the runtime's minimum heap decides when to
// collect, and that happens many times a second. goal is the heap goal in bytes, cycles the number
// of cycles per second. The size of the live heap hardly matters then.
func Tiny(gogc int, goal, cycles float64) bool {
	return gogc > 0 && goal > 0 && cycles >= manyCycles && goal <= nearLeast*LeastHeap*float64(gogc)/100
}
