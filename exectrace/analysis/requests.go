package analysis

import (
	"fmt"
	"strings"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/units"
)

// Requests are the few numbers about requests in a summary, times in seconds.
type Requests struct {
	Count int64   `json:"count"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
	// Places are where most of their time went, at most three.
	Places []requests.PlaceTime `json:"places"`
}

// leastPlace is the share of the requests' time from which a place is one of the few things that matter.
const leastPlace = 0.1

// Spent says in words where the time of requests went: "71 % of their time waiting for a sync.Mutex at
// shop/store.go:41 (released at shop/store.go:58), 24 % running".
func (r *Requests) Spent() string {
	var out []string
	for i := range r.Places {
		p := &r.Places[i]
		of := ""
		if i == 0 {
			of = " of their time"
		}
		out = append(out, fmt.Sprintf("%s%s %s", units.Percent(p.Share), of, p.Text()))
	}
	return strings.Join(out, ", ")
}

func (s *Set) requests() *Requests {
	r := s.Requests.Result()
	if r.All == nil || r.All.Latency == nil {
		return nil
	}
	l := r.All.Latency
	out := &Requests{Count: r.Count, P50: l.P50, P99: l.P99, Max: l.Max}
	for _, p := range r.All.Places {
		if p.Share >= leastPlace && len(out.Places) < 3 {
			out.Places = append(out.Places, p)
		}
	}
	return out
}

// tail says why slow requests are slow.
func (s *Set) tail() []Remark {
	var out []Remark
	for _, r := range s.Requests.Result().Routes {
		if r.Why == nil || r.Why.Slow < 2*r.Why.Median || len(out) == 2 {
			continue
		}
		m := Remark{Topic: "p99", View: "requests", Text: r.Title() + ": " + r.Why.Sentence() + "."}
		if len(r.Why.Causes) > 0 {
			m.Line = r.Why.Causes[0].Waiter
		}
		out = append(out, m)
	}
	return out
}
