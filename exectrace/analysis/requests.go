package analysis

import "github.com/hone-go/hone/exectrace/requests"

// Requests are the most important figures about requests, for a summary. Times are in seconds.
type Requests struct {
	Count int64   `json:"count"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
	// Places are where most of their time went.
	Places []requests.PlaceTime `json:"places"`
}

func (r *Results) requests() *Requests {
	all := r.Requests.All
	if all == nil || all.Latency == nil {
		return nil
	}
	return &Requests{Count: r.Requests.Count, P50: all.Latency.P50, P99: all.Latency.P99, Max: all.Latency.Max, Places: all.Main()}
}

// tail reports why slow requests are slow.
func (r *Results) tail() []Remark {
	var out []Remark
	for _, rt := range r.Requests.Routes {
		if rt.Why == nil || rt.Why.Slow < 2*rt.Why.Median || len(out) == 2 {
			continue
		}
		m := Remark{Topic: "p99", View: "requests", Text: rt.Title() + ": " + rt.Why.Sentence() + "."}
		if len(rt.Why.Causes) > 0 {
			m.Line = rt.Why.Causes[0].Waiter
		}
		out = append(out, m)
	}
	return out
}
