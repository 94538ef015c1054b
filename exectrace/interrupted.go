package exectrace

// Interrupted returns the place, in frames leaf first, of the function in which a goroutine was preempted, wherever it was;
// -1 when it left the processor by a call, or where it calls a function.
//
// The tracer unwinds by frame pointers (runtime/tracestack.go). A function that needs no frame, as loops that only
// compute, has none of its own, nor has any function in its first and last instructions: where it is preempted in
// there, its caller is missing. CPU samples are unwound with care, and never so.
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

// preempts reports what stands above a function that is preempted by a signal (runtime/preempt.go).
func preempts(function string) bool {
	return function == "runtime.asyncPreempt2" || function == "runtime.asyncPreempt"
}

// MostInlined is how many functions that are inlined into one that is interrupted are reckoned with: they stand before it.
const MostInlined = 2

// Rootless reports whether the function at the root of a stack may not be the one that its goroutine was started with, for
// that may be missing.
func (t *Trace) Rootless(s StackID) bool {
	frames := t.Frames(s)
	at := Interrupted(frames)
	return at >= 0 && root(frames) <= at+MostInlined
}
