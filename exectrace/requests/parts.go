package requests

import (
	"fmt"

	"github.com/hone-go/hone/exectrace"
)

// Part is what a request's goroutine did with its time. At each moment it is one of these.
type Part uint8

// The parts. Ready is runnable: able to run, without a processor.
const (
	Running        Part = iota // on a processor, in its own code
	Assist                     // running, but helping the collector to mark
	Sweep                      // running, but sweeping for its own allocation
	ReadyCreated               // ready after its creation
	ReadyWoken                 // ready after a wait
	ReadyPreempted             // ready after it was preempted, or yielded
	ReadySyscall               // ready after a system call that lost its processor
	Stopped                    // ready, while the world was stopped
	InSyscall                  // in a system call or in C
	WaitNetwork
	WaitSelect
	WaitChanSend
	WaitChanReceive
	WaitSync // mutex, RWMutex, WaitGroup, semaphore
	WaitCond
	WaitSleep
	WaitAssist // for background marking, to pay for its allocation
	WaitGC     // for another thing of the collector: its stack to be scanned, its locks, a cycle's end
	WaitOther
	numParts
)

// String returns the part's name, which JSON uses too.
func (p Part) String() string {
	return [numParts]string{
		"running", "gc assist", "gc sweep", "runnable: created", "runnable: woken", "runnable: preempted",
		"runnable: after syscall", "world stopped", "syscall", "network", "select", "chan send",
		"chan receive", "sync", "cond", "sleep", "gc assist wait", "gc wait", "other wait",
	}[p]
}

// MarshalText writes the name.
func (p Part) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the name.
func (p *Part) UnmarshalText(text []byte) error {
	for q := range numParts {
		if q.String() == string(text) {
			*p = q
			return nil
		}
	}
	return fmt.Errorf("no part of a request is called %q", text)
}

// ready reports whether p is waiting for a processor.
func (p Part) ready() bool { return p >= ReadyCreated && p <= ReadySyscall }

// Computes reports whether p is being on a processor, or lacking nothing but one.
func (p Part) Computes() bool { return p <= Stopped }

// waiting reports whether p is being blocked.
func (p Part) waiting() bool { return p >= WaitNetwork }

// placed reports whether the trace has a stack for p: all that begins with leaving the processor.
func (p Part) placed() bool { return p.ready() || p == InSyscall || p.waiting() }

// external reports whether p ends without the action of a goroutine of the program: the goroutine
// that polls the network, runs a timer or finishes a collection is the waker only by chance.
func (p Part) external() bool {
	return p == WaitNetwork || p == WaitSleep || p == WaitAssist || p == WaitGC
}

// partOfReason is the part of a goroutine that waits, or is ready, for a reason.
var partOfReason = [...]Part{
	exectrace.ReasonNone:      WaitOther,
	exectrace.Created:         ReadyCreated,
	exectrace.Woken:           ReadyWoken,
	exectrace.Preempted:       ReadyPreempted,
	exectrace.Gosched:         ReadyPreempted,
	exectrace.SyscallLost:     ReadySyscall,
	exectrace.WaitUnspecified: WaitOther,
	exectrace.WaitForever:     WaitOther,
	exectrace.WaitNetwork:     WaitNetwork,
	exectrace.WaitSelect:      WaitSelect,
	exectrace.WaitCond:        WaitCond,
	exectrace.WaitSync:        WaitSync,
	exectrace.WaitChanSend:    WaitChanSend,
	exectrace.WaitChanReceive: WaitChanReceive,
	exectrace.WaitGCAssist:    WaitAssist,
	exectrace.WaitGCSweep:     WaitGC,
	exectrace.WaitSystem:      WaitOther,
	exectrace.WaitPreempted:   WaitGC, // its stack is scanned; the tracer, which may stop it too, says that it hardly ever has to (runtime/trace.go)
	exectrace.WaitDebugCall:   WaitOther,
	exectrace.WaitGC:          WaitGC,
	exectrace.WaitSleep:       WaitSleep,
	exectrace.WaitGCWeak:      WaitGC,
	exectrace.WaitSynctest:    WaitOther,
	exectrace.WaitCoroutine:   WaitOther,
	exectrace.ReasonOther:     WaitOther,
}

// partTable is the part of a goroutine in each state, for each reason. Running is finer than this:
// see charge.
type partTable [8][32]Part

func newPartTable() *partTable {
	t := new(partTable)
	for s := range t {
		for why := range t[s] {
			t[s][why] = partOf(exectrace.State(s), exectrace.Reason(why))
		}
	}
	return t
}

func (t *partTable) of(s exectrace.State, why exectrace.Reason) Part { return t[s&7][why&31] }

func partOf(s exectrace.State, why exectrace.Reason) Part {
	p := WaitOther
	if int(why) < len(partOfReason) {
		p = partOfReason[why]
	}
	switch s {
	case exectrace.Running:
		return Running
	case exectrace.Syscall:
		return InSyscall
	case exectrace.Runnable:
		if !p.ready() {
			return ReadyPreempted
		}
		return p
	}
	if !p.waiting() {
		return WaitOther
	}
	return p
}

// PartTime is the time of one part.
type PartTime struct {
	Part Part  `json:"part"`
	Time int64 `json:"ns"`
}

// breakdown is a time by part, in nanoseconds.
type breakdown [numParts]int64

func (b *breakdown) total() (sum int64) {
	for _, ns := range b {
		sum += ns
	}
	return sum
}

func (b *breakdown) add(o *breakdown) {
	for i, ns := range o {
		b[i] += ns
	}
}

// list returns the parts that are not zero, in the order of their declaration.
func (b *breakdown) list() []PartTime {
	var out []PartTime
	for i, ns := range b {
		if ns != 0 {
			out = append(out, PartTime{Part(i), ns})
		}
	}
	return out
}
