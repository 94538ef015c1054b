// Package wire is the table of the events of Go's execution trace format v2. The reader, the names
// of events and the text form of traces in tests are derived from it.
//
// It defines what is written, not what it means: the order and the meaning of events are in package
// exectrace. Source: internal/trace/tracev2 (events.go, spec.go) and internal/trace/version of Go
// 1.26.
package wire

import "fmt"

// Type is the first byte of an event.
type Type uint8

// The types of events. Those up to Frequency, and from ExperimentalBatch on, are structural:
// batches and tables. The others are timed events of threads.
const (
	None Type = iota
	EventBatch
	Stacks
	Stack
	Strings
	String
	CPUSamples
	CPUSample
	Frequency

	ProcsChange
	ProcStart
	ProcStop
	ProcSteal
	ProcStatus

	GoCreate
	GoCreateSyscall
	GoStart
	GoDestroy
	GoDestroySyscall
	GoStop
	GoBlock
	GoUnblock
	GoSyscallBegin
	GoSyscallEnd
	GoSyscallEndBlocked
	GoStatus

	STWBegin
	STWEnd

	GCActive
	GCBegin
	GCEnd
	GCSweepActive
	GCSweepBegin
	GCSweepEnd
	GCMarkAssistActive
	GCMarkAssistBegin
	GCMarkAssistEnd
	HeapAlloc
	HeapGoal

	GoLabel
	UserTaskBegin
	UserTaskEnd
	UserRegionBegin
	UserRegionEnd
	UserLog

	GoSwitch
	GoSwitchDestroy
	GoCreateBlocked
	GoStatusStack

	ExperimentalBatch
	Sync
	ClockSnapshot
	EndOfGeneration

	// The events of the experiment "alloc-free" (GODEBUG=traceallocfree=1).
	Span                Type = 128
	SpanAlloc           Type = 129
	SpanFree            Type = 130
	HeapObject          Type = 131
	HeapObjectAlloc     Type = 132
	HeapObjectFree      Type = 133
	GoroutineStack      Type = 134
	GoroutineStackAlloc Type = 135
	GoroutineStackFree  Type = 136
)

// Limits of the format.
const (
	HeaderSize = 16
	MaxBatch   = 64 << 10 // bytes of a batch, without its header
	MaxString  = 1 << 10  // bytes of a string
	MaxFrames  = 128      // frames of a stack
	MaxArgs    = 4        // arguments of a timed event, after the time
)

// NoThread is the thread of a batch that no thread wrote. NoProc is the processor of a CPU sample
// that was taken on a thread without one.
const (
	NoThread = ^uint64(0)
	NoProc   = ^uint64(0)
)

// States of goroutines and processors in GoStatus and ProcStatus.
const (
	GRunnable = 1
	GRunning  = 2
	GSyscall  = 3
	GWaiting  = 4

	PRunning = 1
	PIdle    = 2
	PSyscall = 3
	// PAbandoned is in a system call, on a thread that is no longer known: the first event about
	// the processor in this generation reports that it was taken from there.
	PAbandoned = 4
)

// Spec describes an event.
type Spec struct {
	Name  string
	Args  []string // after the time; named as in Go's table
	Since int      // version of the format that introduced it: 22 for Go 1.22
	Timed bool     // has a time and is in the batch of a thread
}

// Specs holds all events by type; those without a name do not exist.
var Specs = table()

func table() (t [256]Spec) {
	since := 22
	timed := func(typ Type, name string, args ...string) {
		t[typ] = Spec{Name: name, Args: args, Since: since, Timed: true}
	}
	plain := func(typ Type, name string, args ...string) {
		t[typ] = Spec{Name: name, Args: args, Since: since}
	}
	plain(EventBatch, "EventBatch", "gen", "m", "time", "size")
	plain(Stacks, "Stacks")
	plain(Stack, "Stack", "id", "nframes")
	plain(Strings, "Strings")
	plain(String, "String", "id", "size")
	plain(CPUSamples, "CPUSamples")
	plain(CPUSample, "CPUSample", "time", "m", "p", "g", "stack")
	plain(Frequency, "Frequency", "freq")

	timed(ProcsChange, "ProcsChange", "procs", "stack")
	timed(ProcStart, "ProcStart", "p", "p_seq")
	timed(ProcStop, "ProcStop")
	timed(ProcSteal, "ProcSteal", "p", "p_seq", "m")
	timed(ProcStatus, "ProcStatus", "p", "pstatus")

	timed(GoCreate, "GoCreate", "new_g", "new_stack", "stack")
	timed(GoCreateSyscall, "GoCreateSyscall", "new_g")
	timed(GoStart, "GoStart", "g", "g_seq")
	timed(GoDestroy, "GoDestroy")
	timed(GoDestroySyscall, "GoDestroySyscall")
	timed(GoStop, "GoStop", "reason_string", "stack")
	timed(GoBlock, "GoBlock", "reason_string", "stack")
	timed(GoUnblock, "GoUnblock", "g", "g_seq", "stack")
	timed(GoSyscallBegin, "GoSyscallBegin", "p_seq", "stack")
	timed(GoSyscallEnd, "GoSyscallEnd")
	timed(GoSyscallEndBlocked, "GoSyscallEndBlocked")
	timed(GoStatus, "GoStatus", "g", "m", "gstatus")

	timed(STWBegin, "STWBegin", "kind_string", "stack")
	timed(STWEnd, "STWEnd")

	timed(GCActive, "GCActive", "gc_seq")
	timed(GCBegin, "GCBegin", "gc_seq", "stack")
	timed(GCEnd, "GCEnd", "gc_seq")
	timed(GCSweepActive, "GCSweepActive", "p")
	timed(GCSweepBegin, "GCSweepBegin", "stack")
	timed(GCSweepEnd, "GCSweepEnd", "swept", "reclaimed")
	timed(GCMarkAssistActive, "GCMarkAssistActive", "g")
	timed(GCMarkAssistBegin, "GCMarkAssistBegin", "stack")
	timed(GCMarkAssistEnd, "GCMarkAssistEnd")
	timed(HeapAlloc, "HeapAlloc", "heapalloc")
	timed(HeapGoal, "HeapGoal", "heapgoal")

	timed(GoLabel, "GoLabel", "label_string")
	timed(UserTaskBegin, "UserTaskBegin", "task", "parent_task", "name_string", "stack")
	timed(UserTaskEnd, "UserTaskEnd", "task", "stack")
	timed(UserRegionBegin, "UserRegionBegin", "task", "name_string", "stack")
	timed(UserRegionEnd, "UserRegionEnd", "task", "name_string", "stack")
	timed(UserLog, "UserLog", "task", "key_string", "value_string", "stack")

	since = 23
	timed(GoSwitch, "GoSwitch", "g", "g_seq")
	timed(GoSwitchDestroy, "GoSwitchDestroy", "g", "g_seq")
	timed(GoCreateBlocked, "GoCreateBlocked", "new_g", "new_stack", "stack")
	timed(GoStatusStack, "GoStatusStack", "g", "m", "gstatus", "stack")
	plain(ExperimentalBatch, "ExperimentalBatch", "exp", "gen", "m", "time", "size")
	timed(Span, "Span", "id", "npages", "kindclass")
	timed(SpanAlloc, "SpanAlloc", "id", "npages", "kindclass")
	timed(SpanFree, "SpanFree", "id")
	timed(HeapObject, "HeapObject", "id", "type")
	timed(HeapObjectAlloc, "HeapObjectAlloc", "id", "type")
	timed(HeapObjectFree, "HeapObjectFree", "id")
	timed(GoroutineStack, "GoroutineStack", "id", "order")
	timed(GoroutineStackAlloc, "GoroutineStackAlloc", "id", "order")
	timed(GoroutineStackFree, "GoroutineStackFree", "id")

	since = 25
	plain(Sync, "Sync")
	plain(ClockSnapshot, "ClockSnapshot", "dt", "mono", "sec", "nsec")

	since = 26
	plain(EndOfGeneration, "EndOfGeneration")
	return t
}

// Header returns the first bytes of a trace of a version.
func Header(version int) []byte {
	return fmt.Appendf(nil, "go 1.%d trace\x00\x00\x00", version)
}

func (t Type) String() string {
	if name := Specs[t].Name; name != "" {
		return name
	}
	return fmt.Sprintf("event type %d", uint8(t))
}
