package window

import (
	"cmp"
	"slices"
	"sort"
)

// request is a request that started and ended in the trace.
type request struct{ id, begin, end int64 }

// mostRequests bounds the number of requests kept: 190 MB.
const mostRequests = 8 << 20

// Requests are the requests that ended in an interval.
type Requests struct {
	Count int64 `json:"count"`
	// Rate is how many ended per second, by column.
	Rate []float64 `json:"per_second"`
	// Slowest are the slowest ten, slowest first.
	Slowest []Request `json:"slowest"`
}

// Request is one request.
type Request struct {
	ID      int64 `json:"id"` // as in hone trace requests
	Begin   int64 `json:"begin_ns"`
	Latency int64 `json:"latency_ns"`
}

const slowest = 10

// ended returns the requests that ended in an interval, and their rate by column.
func (x *Index) ended(from, to, step int64, columns int) *Requests {
	if len(x.requests) == 0 {
		return nil
	}
	at := func(t int64) int {
		return sort.Search(len(x.requests), func(i int) bool { return x.requests[i].end >= t })
	}
	list := x.requests[at(from):at(to)]
	out := &Requests{Count: int64(len(list)), Rate: make([]float64, columns), Slowest: []Request{}}
	counts := make([]int64, columns)
	var slow []request
	least := int64(-1)
	for _, r := range list {
		counts[min((r.end-from)/step, int64(columns-1))]++
		if r.end-r.begin <= least {
			continue
		}
		slow = append(slow, r)
		if len(slow) >= 8*slowest {
			slow = slowestOf(slow)
			least = slow[slowest-1].end - slow[slowest-1].begin
		}
	}
	for i, n := range counts {
		if width := min(step, to-from-int64(i)*step); width > 0 {
			out.Rate[i] = round(float64(n) / (float64(width) / 1e9))
		}
	}
	for _, r := range slowestOf(slow) {
		out.Slowest = append(out.Slowest, Request{r.id, r.begin, r.end - r.begin})
	}
	return out
}

func slowestOf(list []request) []request {
	slices.SortFunc(list, func(a, b request) int {
		return cmp.Or(cmp.Compare(b.end-b.begin, a.end-a.begin), cmp.Compare(a.id, b.id))
	})
	return list[:min(len(list), slowest)]
}
