package requests

import "github.com/hone-go/hone/exectrace"

// chunk is how many events are filtered at a time: few enough that searching the rest of them, when
// a goroutine turns out to serve requests, costs little.
const chunk = 32

// concern is a set of conditions under which an event is relevant.
type concern uint8

const (
	always   concern = 1 << iota // in any case
	ofLive                       // if its goroutine serves a request
	placed                       // if its stack says something about a request
	descends                     // of a goroutine only: a request started it
)

// relevantEvents says under which conditions an event of each kind is relevant. Most kinds that are
// missing are about processors in system calls, one for each event of their goroutine.
var relevantEvents = [64]concern{
	exectrace.GoCreate:         always,
	exectrace.GoCreateSyscall:  ofLive | descends, // has no protocol: it only ends what its index was used for before
	exectrace.GoStart:          ofLive,            // has no stack, nor has GoSyscallEnd
	exectrace.GoDestroy:        ofLive | placed,
	exectrace.GoDestroySyscall: ofLive | placed,
	exectrace.GoStop:           ofLive | placed,
	exectrace.GoBlock:          ofLive | placed,
	exectrace.GoUnblock:        ofLive | placed,
	exectrace.GoSyscallBegin:   ofLive | placed,
	exectrace.GoSyscallEnd:     ofLive,
	exectrace.GoSyscallEndLost: ofLive | placed,
	exectrace.GoSwitch:         ofLive | placed,
	exectrace.GoStatus:         ofLive | placed,

	exectrace.ProcStart:         always,
	exectrace.ProcStop:          always,
	exectrace.ProcSteal:         always,
	exectrace.ProcStatus:        always,
	exectrace.ProcsChange:       always,
	exectrace.STWBegin:          always,
	exectrace.STWEnd:            always,
	exectrace.GCMarkAssistBegin: ofLive,
	exectrace.GCMarkAssistEnd:   ofLive,
	exectrace.GCSweepBegin:      ofLive,
	exectrace.GCSweepEnd:        ofLive,
	exectrace.TaskBegin:         always,
	exectrace.TaskEnd:           always,
	exectrace.RegionBegin:       ofLive,
	exectrace.RegionEnd:         ofLive,
	exectrace.Log:               ofLive,
	exectrace.CPUSample:         always,
	exectrace.Gap:               always,
}

// relevantForPaths is relevantEvents with Options.Paths: all transitions of goroutines are
// relevant.
var relevantForPaths = func() [64]concern {
	t := relevantEvents
	for k := range exectrace.GoStatus + 1 {
		t[k] = always
	}
	return t
}()

// chunk takes a few events. Most are not about requests: filter drops those before anything else is
// done.
func (f *Fold) chunk(events []exectrace.Event) {
	n := f.filter(events)
	for at := 0; at < n; at++ {
		i := int(f.places[at])
		f.entered = exectrace.NoG
		f.take(&events[i])
		if f.entered != exectrace.NoG {
			n = f.admit(events, i+1, at+1, n)
		}
	}
}

// filter records the indices of the relevant events in f.places, and returns their number. Kinds
// and goroutines come in no order that a processor could predict, so it does not branch. A
// goroutine without a mark of its own has that of another, which lets through too much but never
// too little.
func (f *Fold) filter(events []exectrace.Event) (n int) {
	marks, stackMarks, relevant := f.marks, f.stackMarks, *f.relevant
	for i := range events {
		e := &events[i]
		mark := marks[int(e.G)&(len(marks)-1)]
		f.places[n&(chunk-1)] = uint8(i)
		if relevant[e.Kind&63]&(always|mark|stackMarks[e.Stack]) != 0 {
			n++
		}
	}
	return n
}

// admit adds the events of a goroutine that turned out to serve requests to the relevant ones in
// the rest of a chunk: the events from index from on, among f.places[at:n].
func (f *Fold) admit(events []exectrace.Event, from, at, n int) int {
	g := f.entered
	for i := from; i < len(events); i++ {
		if events[i].G != g || f.relevant[events[i].Kind&63]&ofLive == 0 {
			continue
		}
		for at < n && int(f.places[at]) < i {
			at++
		}
		if at < n && int(f.places[at]) == i {
			continue
		}
		copy(f.places[at+1:n+1], f.places[at:n])
		f.places[at] = uint8(i)
		n++
	}
	return n
}
