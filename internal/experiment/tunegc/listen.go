package tunegc

import (
	"bytes"
	"errors"
	"sync"
	"time"

	"github.com/hone-go/hone/internal/gogc"
	"github.com/hone-go/hone/internal/recording"
)

// listener extracts the collections from the output of a target.
type listener struct {
	mu   sync.Mutex
	rest []byte
	seen []heard
}

// heard is a collection and the time at which its line was printed.
type heard struct {
	gogc.Cycle
	at time.Time
}

// longestLine bounds the memory for a line without an end.
const longestLine = 64 << 10

// Write never fails.
func (l *listener) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.rest = append(l.rest, p...)
	for {
		line, rest, ok := bytes.Cut(l.rest, []byte("\n"))
		if !ok {
			break
		}
		if c, ok := gogc.ParseCycle(string(line)); ok {
			l.seen = append(l.seen, heard{c, now})
		}
		l.rest = rest
	}
	if len(l.rest) > longestLine {
		l.rest = nil
	}
	return len(p), nil
}

// observed combines the collections with the clean phase: the last runs of a program that exits, or
// those of a service during the phase.
func (l *listener) observed(m *recording.Manifest) (*gogc.Observed, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ph, ok := m.Phase(recording.PhaseClean)
	if !ok {
		return nil, errors.New("tune gc: the recording has no clean phase")
	}
	o := &gogc.Observed{
		GOGC: m.Runtime.GOGC, Limit: m.Limit(), Ends: m.Load == nil && ph.Runs > 0,
		AllocBytes: float64(ph.AllocBytes), CPUSeconds: ph.CPUSeconds, Resident: float64(max(ph.PeakRSSBytes, ph.RSSBytes)),
	}
	if ph.PageFaults > 0 {
		o.FaultCPU = min(mostFault, ph.SystemCPUSeconds/float64(ph.PageFaults))
	}
	if !o.Ends {
		var run []gogc.Cycle
		end := ph.Start.Add(time.Duration(ph.Seconds * float64(time.Second)))
		for _, h := range l.seen {
			if h.at.After(ph.Start) && h.at.Before(end) && !h.Forced {
				run = append(run, h.Cycle)
			}
		}
		o.Runs = [][]gogc.Cycle{run}
		return o, nil
	}
	var runs [][]gogc.Cycle
	last := 0
	for _, h := range l.seen {
		if h.Number <= last || len(runs) == 0 {
			runs = append(runs, nil)
		}
		last = h.Number
		if !h.Forced {
			runs[len(runs)-1] = append(runs[len(runs)-1], h.Cycle)
		}
	}
	if len(runs) > ph.Runs {
		runs = runs[len(runs)-ph.Runs:]
	}
	for len(runs) < ph.Runs { // runs without a collection printed nothing
		runs = append(runs, nil)
	}
	o.Runs = runs
	return o, nil
}

// mostFault is the maximum CPU time of a page fault of a growing heap, in seconds: longer ones also
// read a file or waited.
const mostFault = 1e-6
