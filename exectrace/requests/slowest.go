package requests

import "container/heap"

// slowest keeps the slowest requests: a heap with the fastest of them on top.
type slowest struct {
	size int
	list []Request
}

// wants reports whether a request of this latency is among the slowest so far. Of equal ones the
// earlier stays.
func (s *slowest) wants(latency int64) bool {
	return len(s.list) < s.size || latency > s.list[0].Latency
}

func (s *slowest) put(q Request) {
	if len(s.list) < s.size {
		heap.Push(s, q)
		return
	}
	s.list[0] = q
	heap.Fix(s, 0)
}

func (s *slowest) sort() { sortRequests(s.list) }

// The methods of heap.Interface.

func (s *slowest) Len() int           { return len(s.list) }
func (s *slowest) Less(i, j int) bool { return s.list[i].Latency < s.list[j].Latency }
func (s *slowest) Swap(i, j int)      { s.list[i], s.list[j] = s.list[j], s.list[i] }
func (s *slowest) Push(x any)         { s.list = append(s.list, x.(Request)) }
func (s *slowest) Pop() any           { panic("never taken off") }
