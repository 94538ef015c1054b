package columns

// Set is a set of locations. It has a bit for each, because the processor's L1 cache holds the bits
// of most profiles, but not a byte per location.
type Set []uint64

// NewSet returns an empty set of up to n locations.
func NewSet(n int) Set { return make(Set, (n+63)/64) }

// Add adds a location.
func (s Set) Add(l int32) { s[uint32(l)>>6] |= 1 << (uint32(l) & 63) }

// Bit returns 1 if a location is in the set, else 0.
func (s Set) Bit(l int32) uint64 { return s[uint32(l)>>6] >> (uint32(l) & 63) & 1 }

// Pick copies the locations of a stack that are in a set to room, which has space for the whole
// stack. It returns their number. It has no branch that depends on the set.
func Pick(room, stack []int32, set Set) (n int) {
	for _, l := range stack {
		room[n] = l
		n += int(set.Bit(l))
	}
	return n
}
