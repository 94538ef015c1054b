package analysis

import "github.com/hone-go/hone/exectrace/requests"

// Requests are the few numbers about requests in a summary, times in seconds.
type Requests struct {
	Count int64   `json:"count"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
	// Places are where most of their time went.
	Places []requests.PlaceTime `json:"places"`
}

func (s *Set) requests() *Requests {
	r := s.Requests.Result()
	if r.All == nil || r.All.Latency == nil {
		return nil
	}
	l := r.All.Latency
	return &Requests{Count: r.Count, P50: l.P50, P99: l.P99, Max: l.Max, Places: r.All.Main()}
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
