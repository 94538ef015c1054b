package recording

import "github.com/hone-go/hone/stats"

// Trial is a GOGC setting that was tried under the recording's load, interleaved with the program's
// own.
type Trial struct {
	GOGC  int    `json:"gogc"` // the value tried, percent; the program's own is in Runtime
	Turns []Turn `json:"turns"`
}

// Turn is one run of a setting in a trial, in the order in which they ran.
type Turn struct {
	GOGC       int     `json:"gogc"`
	Seconds    float64 `json:"seconds"`
	Requests   int64   `json:"requests"`
	CPUSeconds float64 `json:"cpu_seconds"` // of the process, user + system
	GCCycles   int64   `json:"gc_cycles"`
}

// Saved returns the share of CPU per request that the setting saves, with the interval that the
// scatter between pairs of turns gives; below 0 when it costs more. It is unknown without two pairs
// of turns with requests.
func (t *Trial) Saved() stats.Interval {
	var own, tried []float64
	for _, turn := range t.Turns {
		if turn.Requests <= 0 {
			continue
		}
		per := turn.CPUSeconds / float64(turn.Requests)
		if turn.GOGC == t.GOGC {
			tried = append(tried, per)
		} else {
			own = append(own, per)
		}
	}
	if len(own) != len(tried) { // a turn without requests: its partner is left out too
		own, tried = nil, nil
	}
	return stats.Minus(stats.Interval{Value: 1, Low: 1, High: 1}, stats.PairedRatio(own, tried))
}
