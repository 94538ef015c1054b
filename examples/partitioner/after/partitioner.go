package main

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strconv"
)

// SeriesID names a time series.
type SeriesID uint64

const (
	replicas = 64 // places of a node on the ring: more share the load more evenly
	fineness = 10 // bits of a hash that find the part of the ring to search
)

// Partitioner assigns series to the nodes of a consistent-hashing ring: when a
// node comes or goes, few series move.
type Partitioner struct {
	log   *Logger
	nodes []string
	ring  []place              // in the order of their hashes
	start [1 << fineness]int32 // the first place at or after each part of the ring
}

// place is where a node stands on the ring.
type place struct {
	hash uint64
	node int
}

// NewPartitioner returns a ring of at least one node.
func NewPartitioner(nodes []string, log *Logger) *Partitioner {
	p := &Partitioner{log: log, nodes: nodes}
	for i, name := range nodes {
		for j := range replicas {
			p.ring = append(p.ring, place{hash: placeHash(name, j), node: i})
		}
	}
	slices.SortFunc(p.ring, func(a, b place) int { return cmp.Compare(a.hash, b.hash) })
	next := 0
	for i := range p.start {
		for next < len(p.ring) && p.ring[next].hash>>(64-fineness) < uint64(i) {
			next++
		}
		p.start[i] = int32(next)
	}
	return p
}

func placeHash(node string, replica int) uint64 {
	h := fnv.New64a()
	h.Write([]byte(node + "#" + strconv.Itoa(replica)))
	return murmur(h.Sum64())
}

// Partition returns the index of the node that keeps a series: the one at or
// after the hash of the series.
func (p *Partitioner) Partition(series SeriesID) int {
	murmHash := murmur(uint64(series))
	smallIndex := murmHash >> (64 - fineness)
	// The test stands here and not only in Debug2: a value that becomes an
	// interface goes to the heap before the function that drops it is called.
	if p.log.Debugging() {
		Debug2(p.log, "smallIndex", smallIndex, "murmHash", murmHash, "hashed a series")
	}

	at := int(p.start[smallIndex])
	for at < len(p.ring) && p.ring[at].hash < murmHash {
		at++
	}
	if at == len(p.ring) {
		at = 0 // the ring closes
	}
	if p.log.Debugging() {
		Debug2(p.log, "series", series, "place", p.ring[at].hash, "found its place")
	}
	return p.ring[at].node
}
