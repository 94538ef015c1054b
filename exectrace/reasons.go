package exectrace

// reasonWord is a reason as the trace has it: words that are used both for blocking and for
// stopping.
type reasonWord uint8

const (
	wordNew reasonWord = iota // not looked up yet
	wordNone
	wordOther
	wordUnspecified
	wordForever
	wordNetwork
	wordSelect
	wordCond
	wordSync
	wordChanSend
	wordChanReceive
	wordGCAssist
	wordGCSweep
	wordSystem
	wordPreempted
	wordDebugCall
	wordGC
	wordSleep
	wordGCWeak
	wordSynctest
	wordGosched
)

// reasonWords are the tracer's own (runtime/traceruntime.go), with their meaning for a goroutine
// that blocks and for one that stops but stays ready.
var reasonWords = [...]struct {
	text        string
	block, stop Reason
}{
	wordNone:        {"", ReasonNone, ReasonNone},
	wordOther:       {"", ReasonOther, ReasonOther},
	wordUnspecified: {"unspecified", WaitUnspecified, ReasonOther},
	wordForever:     {"forever", WaitForever, ReasonOther},
	wordNetwork:     {"network", WaitNetwork, ReasonOther},
	wordSelect:      {"select", WaitSelect, ReasonOther},
	wordCond:        {"sync.(*Cond).Wait", WaitCond, ReasonOther},
	wordSync:        {"sync", WaitSync, ReasonOther},
	wordChanSend:    {"chan send", WaitChanSend, ReasonOther},
	wordChanReceive: {"chan receive", WaitChanReceive, ReasonOther},
	wordGCAssist:    {"GC mark assist wait for work", WaitGCAssist, ReasonOther},
	wordGCSweep:     {"GC background sweeper wait", WaitGCSweep, ReasonOther},
	wordSystem:      {"system goroutine wait", WaitSystem, ReasonOther},
	wordPreempted:   {"preempted", WaitPreempted, Preempted},
	wordDebugCall:   {"wait for debug call", WaitDebugCall, ReasonOther},
	wordGC:          {"wait until GC ends", WaitGC, ReasonOther},
	wordSleep:       {"sleep", WaitSleep, ReasonOther},
	wordGCWeak:      {"GC weak to strong wait", WaitGCWeak, ReasonOther},
	wordSynctest:    {"synctest", WaitSynctest, ReasonOther},
	wordGosched:     {"runtime.Gosched", ReasonOther, Gosched},
}

// reasonNames names the reasons for which the tracer has no words.
var reasonNames = [...]string{
	Created:       "created",
	Woken:         "woken",
	SyscallLost:   "system call ended, processor gone",
	WaitCoroutine: "coroutine",
}

func wordOf(text []byte) reasonWord {
	for w, r := range reasonWords {
		if reasonWord(w) > wordOther && r.text == string(text) {
			return reasonWord(w)
		}
	}
	if len(text) == 0 {
		return wordNone
	}
	return wordOther
}

// reason returns the reason of a block or a stop that a string of the generation names.
func (g *generation) reason(id uint64) (reasonWord, bool) {
	r := g.strings.get(id)
	if r == nil {
		return 0, false
	}
	if r.word == wordNew {
		r.word = wordOf(g.bytes(r))
	}
	return r.word, true
}

// String returns the reason in the tracer's words, if it has any.
func (r Reason) String() string {
	if int(r) < len(reasonNames) && reasonNames[r] != "" {
		return reasonNames[r]
	}
	for _, w := range reasonWords {
		if r != ReasonOther && (w.block == r || w.stop == r) {
			return w.text
		}
	}
	if r == ReasonOther {
		return "other"
	}
	return ""
}
