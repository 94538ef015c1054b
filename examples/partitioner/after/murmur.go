package main

// murmur mixes the bits of x so that neighbours end up far apart: the last step
// of MurmurHash3 (Austin Appleby, public domain).
func murmur(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	x ^= x >> 33
	return x
}
