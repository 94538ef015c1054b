package exectrace

// Interrupted returns the index, in frames leaf first, of the function in which a goroutine was
// preempted by a signal; -1 if it left the processor by a call.
//
// The tracer unwinds by frame pointers (runtime/tracestack.go). A function that needs no frame,
// such as a loop that only computes, has no frame pointer, and no function has one in its first and
// last instructions. If a function is preempted there, the frame of its caller is missing. CPU
// samples are unwound with pclntab and do not have this defect.
func Interrupted(frames []Frame) int {
	if len(frames) == 0 || !preempts(frames[0].Func) {
		return -1
	}
	for i := range frames {
		if !preempts(frames[i].Func) {
			return i
		}
	}
	return -1
}

// preempts reports whether a function is a callee of one that was preempted by a signal
// (runtime/preempt.go).
func preempts(function string) bool {
	return function == "runtime.asyncPreempt2" || function == "runtime.asyncPreempt"
}

// MostInlined is how many functions inlined into the interrupted one are considered: their frames
// come before it.
const MostInlined = 2

// Rootless reports whether the function at the root of a stack may not be the one that its
// goroutine was started with, because that frame may be missing.
func (t *Trace) Rootless(s StackID) bool {
	frames := t.Frames(s)
	at := Interrupted(frames)
	return at >= 0 && root(frames) <= at+MostInlined
}
