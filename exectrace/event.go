package exectrace

// Event is one thing that happened. Events come in the order in which they happened.
//
// Every transition of a goroutine has the state that it leaves (From, since Since, because of Was)
// and the state that it enters (To, because of Why), so that a fold that adds up times needs no
// state. Times are in nanoseconds since the trace's first event and never decrease.
type Event struct {
	Time int64 // when it happened
	// Since is when the state From started or, for the end of a range, when the range started. A
	// state that is older than the trace counts from the trace's start (or from the last Gap). So
	// does the state To of a goroutine's first status (From Unknown).
	Since int64
	// Value depends on the kind: bytes (HeapAlloc, HeapGoal, GCSweepEnd: swept), a count
	// (ProcsChange), a task (annotations; see [Trace.Annotation]).
	Value uint64
	Kind  Kind
	From  State  // of G, or of P for the events of processors
	To    State  // equal to From for a status that repeats what is known: no time to add up
	Was   Reason // why G was in From
	Why   Reason // why G enters To
	// G is the goroutine that the event is about: the one that changes its state, or the one that
	// the range or annotation belongs to. It is NoG for events of processors.
	G GIndex
	// By is the goroutine that ran on the thread at that time: for Unblock the waker, for Create
	// the parent, otherwise mostly G. It is NoG when none ran (network poller, timers, system calls
	// that return).
	By GIndex
	P  int32 // processor, or -1
	M  int32 // index in [Trace.Threads], or -1
	// Stack is the stack of By at the event: the waker's line for Unblock, the waiter's for Block,
	// the creator's for Create.
	Stack StackID
	// Left is the stack at which G left the processor, or was created, before it entered From: the
	// waiter's line when a wait ends. It is equal to the stack of the event that started From. For
	// RegionEnd and TaskEnd it is the stack of the begin.
	Left StackID
	note uint32 // 1 + index of its words among those of the block; 0 none
}

// Seconds converts a time of an event, or a duration, to seconds, the unit of results.
func Seconds(ns int64) float64 { return float64(ns) / 1e9 }

// The fields of an event are set one by one: a whole Event would be built elsewhere and copied,
// which would double the cost of an event.

func (e *Event) change(kind Kind, from, to State, was, why Reason) *Event {
	e.Kind, e.From, e.To, e.Was, e.Why = kind, from, to, was, why
	return e
}

func (e *Event) when(now, since int64) *Event {
	e.Time, e.Since, e.Value, e.note = now, since, 0, 0
	return e
}

func (e *Event) who(g, by GIndex) *Event {
	e.G, e.By = g, by
	return e
}

func (e *Event) where(p, m int32) *Event {
	e.P, e.M = p, m
	return e
}

func (e *Event) stacks(stack, left StackID) {
	e.Stack, e.Left = stack, left
}

// Block is a sequence of events. It and its events are valid only during the call.
type Block struct {
	Events []Event
	// Rare holds the indices in Events of the kinds from GoStatus on: all that are not frequent
	// changes of a goroutine's state. Folds over processors, collections or annotations loop over
	// these only.
	Rare []int32
}

// GIndex is a goroutine's index in the table of live goroutines: small, dense, and reused after the
// goroutine ended. Folds keep their data about goroutines in a slice by GIndex and reset an entry
// at Create and at the first Status (From Unknown).
type GIndex uint32

// NoG means no goroutine.
const NoG = ^GIndex(0)

// StackID identifies a stack in all generations of a trace. Equal stacks have one ID; 0 means none.
type StackID uint32

// State is the state of a goroutine or a processor.
type State uint8

// The states. Processors are Idle, Running or Syscall; goroutines have all states but Idle.
const (
	Unknown  State = iota // before its first event
	Runnable              // ready, waits for a processor
	Running
	Syscall // in a system call (or cgo)
	Waiting // blocked; the Reason says on what
	Gone    // ended
	Idle    // processors: nothing to run
)

// Kind is the kind of an event. The names are those of Go's tracer (internal/trace/tracev2,
// events.go).
type Kind uint8

// The kinds of events.
const (
	KindNone Kind = iota

	// Transitions of goroutines.
	GoCreate         // G is new: Runnable (or Waiting, when created blocked), By its parent
	GoCreateSyscall  // a thread of C called into Go: G is new, in Syscall
	GoStart          // Runnable → Running
	GoDestroy        // Running → Gone
	GoDestroySyscall // Syscall → Gone
	GoStop           // Running → Runnable: preempted or Gosched
	GoBlock          // Running → Waiting
	GoUnblock        // Waiting → Runnable
	GoSyscallBegin   // Running → Syscall
	GoSyscallEnd     // Syscall → Running
	GoSyscallEndLost // Syscall → Runnable: its processor was taken during the call
	GoSwitch         // coroutines: one of the three events of a direct switch: G is woken, leaves (To Waiting or Gone), or runs
	GoStatus         // the state of G when it is first mentioned in a generation

	// Processors. A processor is in Syscall from its goroutine's GoSyscallBegin to its
	// GoSyscallEnd, unless it is stopped or stolen before the end: those two have no events of the
	// processor.
	ProcStart   // Idle → Running
	ProcStop    // Running → Idle
	ProcSteal   // Syscall → Idle; Idle → Idle if its thread was unknown
	ProcStatus  // the state of P when it is first mentioned in a generation
	ProcsChange // Value is GOMAXPROCS

	// Ranges. An Active is a range that was open when the generation started.
	STWBegin // Why is the reason
	STWEnd
	GCActive
	GCBegin
	GCEnd
	GCSweepActive
	GCSweepBegin
	GCSweepEnd // Value: bytes swept
	GCMarkAssistActive
	GCMarkAssistBegin
	GCMarkAssistEnd

	// Counters.
	HeapAlloc // Value: bytes live and not yet swept
	HeapGoal  // Value: bytes at which the next collection starts

	// Annotations: Trace.Annotation returns their words.
	GoLabel
	TaskBegin
	TaskEnd
	RegionBegin
	RegionEnd
	Log

	CPUSample // G was seen running at Stack
	// Sync starts a generation: Value is its number. If generations before it were lost, it comes
	// after a Gap: from there on everything that was open is unknown.
	Sync
	Gap
)

// Reason is why a goroutine waits or is ready, or why the world is stopped.
type Reason uint8

// The reasons. ReasonOther is one that this package does not know: Trace.ReasonName returns its
// words.
const (
	ReasonNone Reason = iota

	// Why a goroutine is Runnable.
	Created
	Woken
	Preempted
	Gosched
	SyscallLost // a system call ended and its processor had been taken

	// What a goroutine is Waiting for.
	WaitUnspecified
	WaitForever // nil channel, empty select
	WaitNetwork
	WaitSelect
	WaitCond
	WaitSync // mutex, RWMutex, WaitGroup, semaphore: the stack shows which
	WaitChanSend
	WaitChanReceive
	WaitGCAssist
	WaitGCSweep
	WaitSystem // a goroutine of the runtime that has nothing to do
	WaitPreempted
	WaitDebugCall
	WaitGC // until the collection ends
	WaitSleep
	WaitGCWeak
	WaitSynctest
	WaitCoroutine // switched away to another coroutine

	ReasonOther
)

// String returns the state's name: "runnable".
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "unknown"
}

var stateNames = [...]string{"unknown", "runnable", "running", "syscall", "waiting", "gone", "idle"}

// String returns the tracer's name of a kind: "GoUnblock".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

var kindNames = [...]string{
	KindNone:           "none",
	GoCreate:           "GoCreate",
	GoCreateSyscall:    "GoCreateSyscall",
	GoStart:            "GoStart",
	GoDestroy:          "GoDestroy",
	GoDestroySyscall:   "GoDestroySyscall",
	GoStop:             "GoStop",
	GoBlock:            "GoBlock",
	GoUnblock:          "GoUnblock",
	GoSyscallBegin:     "GoSyscallBegin",
	GoSyscallEnd:       "GoSyscallEnd",
	GoSyscallEndLost:   "GoSyscallEndLost",
	GoSwitch:           "GoSwitch",
	GoStatus:           "GoStatus",
	ProcStart:          "ProcStart",
	ProcStop:           "ProcStop",
	ProcSteal:          "ProcSteal",
	ProcStatus:         "ProcStatus",
	ProcsChange:        "ProcsChange",
	STWBegin:           "STWBegin",
	STWEnd:             "STWEnd",
	GCActive:           "GCActive",
	GCBegin:            "GCBegin",
	GCEnd:              "GCEnd",
	GCSweepActive:      "GCSweepActive",
	GCSweepBegin:       "GCSweepBegin",
	GCSweepEnd:         "GCSweepEnd",
	GCMarkAssistActive: "GCMarkAssistActive",
	GCMarkAssistBegin:  "GCMarkAssistBegin",
	GCMarkAssistEnd:    "GCMarkAssistEnd",
	HeapAlloc:          "HeapAlloc",
	HeapGoal:           "HeapGoal",
	GoLabel:            "GoLabel",
	TaskBegin:          "TaskBegin",
	TaskEnd:            "TaskEnd",
	RegionBegin:        "RegionBegin",
	RegionEnd:          "RegionEnd",
	Log:                "Log",
	CPUSample:          "CPUSample",
	Sync:               "Sync",
	Gap:                "Gap",
}
