package recording

import "github.com/hone-go/hone/stats"

// Trial is a setting of the collector that was tried under the recording's load, alternately with
// the program's own.
type Trial struct {
	GOGC  int    `json:"gogc"` // that was tried, percent; the program's own stands in Runtime
	Turns []Turn `json:"turns"`
}

// Turn is a stretch of a trial, in the order of running.
type Turn struct {
	GOGC       int     `json:"gogc"`
	Seconds    float64 `json:"seconds"`
	Requests   int64   `json:"requests"`
	CPUSeconds float64 `json:"cpu_seconds"` // of the process, user + system
	GCCycles   int64   `json:"gc_cycles"`
}

// Saved is the share of its CPU per request that the program spends less with the setting, with the
// interval that the scatter between pairs of turns gives; less than 0 when it spends more. Without two
// pairs of turns with requests it is not known.
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
	if len(own) != len(tried) { // a turn without requests has lost its partner
		own, tried = nil, nil
	}
	return stats.Minus(stats.Interval{Value: 1, Low: 1, High: 1}, stats.PairedRatio(own, tried))
}
