package exectrace

// Event is one thing that happened, in the order in which it happened.
//
// Every transition of a goroutine says what it leaves (From, since Since, because
// of Was) and what it enters (To, because of Why), so that a fold that adds up times
// needs no state of its own. Times are in nanoseconds since the trace's first event
// and never fall.
type Event struct {
	Time int64 // when
	// Since is when the state From began; for the end of a range, when the range began. A state
	// that is older than the trace counts from the trace's start (or from the last Gap). So does
	// the state To of a goroutine's first status (From Unknown).
	Since int64
	// Value depends on the kind: bytes (HeapAlloc, HeapGoal, GCSweepEnd: swept), a count
	// (ProcsChange), a task (annotations; see [Trace.Annotation]).
	Value uint64
	Kind  Kind
	From  State  // of G, or of P for the events of processors
	To    State  // equal to From for a status that is not news: no time to add up
	Was   Reason // why G was in From
	Why   Reason // why G goes to To
	// G is the goroutine that the event is about: the one that changes its state, or the
	// one in which the range or annotation stands. NoG for events of processors.
	G GIndex
	// By is the goroutine that ran on the thread at that time: for Unblock the
	// waker, for Create the parent, else mostly G. NoG when none ran (network poller,
	// timers, system calls that return).
	By GIndex
	P  int32 // processor, or -1
	M  int32 // thread's place in [Trace.Threads], or -1
	// Stack is of By, at the event: the waker's line for Unblock, the waiter's for
	// Block, the creator's for Create.
	Stack StackID
	// Left is where G left the processor, or was created, before it came to From: the
	// waiter's line when a wait ends. Equal to the stack of the event that began From. Of a RegionEnd
	// or TaskEnd it is the stack of its begin.
	Left StackID
	note uint32 // 1 + place of its words among those of the block; 0 none
}

// Seconds is a time of events, or between two, in the unit of results.
func Seconds(ns int64) float64 { return float64(ns) / 1e9 }

// The parts of an event are set one by one: a whole Event would be built elsewhere and
// copied, at twice the price of an event.

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

// Block is a run of events. It and its events are valid during the call only.
type Block struct {
	Events []Event
	// Rare are the places in Events of the kinds from GoStatus on: everything that is no plain change
	// of a goroutine's state. Folds over processors, collections or annotations loop over these alone.
	Rare []int32
}

// GIndex is a goroutine's place in the table of live goroutines: small, dense, and
// used again after its goroutine ended. Folds keep what they know about goroutines in a
// slice by GIndex and start again at Create and at the first Status (From Unknown).
type GIndex uint32

// NoG is no goroutine.
const NoG = ^GIndex(0)

// StackID names a stack of the whole trace: equal stacks have one ID, in
// all generations. 0 is no stack.
type StackID uint32

// State is what a goroutine, or a processor, does.
type State uint8

// The states. Processors are Idle, Running or Syscall; goroutines all but Idle.
const (
	Unknown  State = iota // before its first event
	Runnable              // ready, waits for a processor
	Running
	Syscall // in a system call (or cgo)
	Waiting // blocked: Reason says for what
	Gone    // ended
	Idle    // processors: nothing to run
)

// Kind is what happened. The names are those of Go's tracer (internal/trace/tracev2, events.go).
type Kind uint8

// The kinds of events.
const (
	KindNone Kind = iota

	// Changes of goroutines.
	GoCreate         // G is new: Runnable (or Waiting, when created blocked), By its parent
	GoCreateSyscall  // a thread of C came in: G is new, in Syscall
	GoStart          // Runnable → Running
	GoDestroy        // Running → Gone
	GoDestroySyscall // Syscall → Gone
	GoStop           // Running → Runnable: preempted or Gosched
	GoBlock          // Running → Waiting
	GoUnblock        // Waiting → Runnable
	GoSyscallBegin   // Running → Syscall
	GoSyscallEnd     // Syscall → Running
	GoSyscallEndLost // Syscall → Runnable: its processor was taken meanwhile
	GoSwitch         // coroutines: one of the three changes of a direct switch: G is woken, leaves (To Waiting or Gone), runs
	GoStatus         // first word about G in a generation

	// Processors. One is in Syscall from its goroutine's GoSyscallBegin to its GoSyscallEnd, unless
	// it is stopped or stolen before: those need no events of their own.
	ProcStart   // Idle → Running
	ProcStop    // Running → Idle
	ProcSteal   // Syscall → Idle; Idle → Idle when its thread was lost sight of before
	ProcStatus  // first word about P in a generation
	ProcsChange // Value is GOMAXPROCS

	// Ranges. An Active is one that was open when the generation began.
	STWBegin // Why says for what
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
	HeapGoal  // Value: bytes at which the next collection begins

	// Annotations: Trace.Annotation has the words.
	GoLabel
	TaskBegin
	TaskEnd
	RegionBegin
	RegionEnd
	Log

	CPUSample // G was seen running at Stack
	// Sync begins a generation: Value is its number. Gap is before it when
	// generations between were lost: whatever was open is unknown from there.
	Sync
	Gap
)

// Reason is why a goroutine waits, is ready, or why the world is stopped.
type Reason uint8

// The reasons. ReasonOther is one that this package does not know: Trace.ReasonName has its words.
const (
	ReasonNone Reason = iota

	// Runnable because.
	Created
	Woken
	Preempted
	Gosched
	SyscallLost // a system call ended and its processor was gone

	// Waiting for.
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
	WaitSystem // a goroutine of the runtime has nothing to do
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
