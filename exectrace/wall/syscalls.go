package wall

import (
	"cmp"
	"slices"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/profile/symbol"
)

// Syscalls are the system calls that the scheduler saw: those through syscall.Syscall or cgo. Raw
// system calls and calls that the vDSO answers are not in a trace.
type Syscalls struct {
	Length  float64       `json:"length_seconds"`
	Seconds float64       `json:"seconds"`
	Count   int64         `json:"count"`
	Lines   []SyscallLine `json:"lines"` // most time first
}

// SyscallLine is the system calls of one line.
type SyscallLine struct {
	Line    exectrace.Line `json:"line"`
	Call    string         `json:"call"` // the library function that made it: "os.(*File).Write", or betweenCalls
	Seconds float64        `json:"seconds"`
	Count   int64          `json:"count"`
	Max     float64        `json:"max_seconds"`
	Open    int64          `json:"open,omitempty"`
	// Lost is how often a call took so long that its processor was given to other goroutines.
	Lost int64 `json:"lost_processor,omitempty"`
}

// betweenCalls is the place of a thread of C that calls into Go, between those calls: the tracer
// reports it as in a system call.
const betweenCalls = "C, between calls into Go"

// Syscalls returns the system calls by line.
func (f *Fold) Syscalls() *Syscalls {
	type at struct {
		line int32
		call string
	}
	sum, lost := map[at]*waitSum{}, map[at]int64{}
	out := &Syscalls{Length: exectrace.Seconds(f.length)}
	for i := range f.table.rows {
		r := &f.table.rows[i]
		isLost := r.what() == runnable && r.why() == exectrace.SyscallLost
		if r.what() != inSyscall && !isLost {
			continue
		}
		k := at{f.lines.of(f.trace, r.left()), systemCall(f.trace.Frames(r.left()))}
		if r.left() == 0 && f.trace.FromC(r.entry()) {
			k.call = betweenCalls
		}
		if isLost {
			lost[k] += r.n
			continue
		}
		sumAt(sum, k).add(r)
		out.Seconds += exectrace.Seconds(r.total)
		out.Count += r.n
	}
	for k, s := range sum {
		out.Lines = append(out.Lines, SyscallLine{
			Line: f.lines.list[k.line], Call: k.call, Seconds: exectrace.Seconds(s.total), Count: s.n,
			Max: exectrace.Seconds(s.max), Open: s.open, Lost: lost[k],
		})
	}
	slices.SortFunc(out.Lines, func(a, b SyscallLine) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), a.Line.Compare(b.Line), cmp.Compare(a.Call, b.Call))
	})
	return out
}

// systemCall returns the frame nearest the leaf that people know, not the assembly stubs and not
// internal functions of the poller.
func systemCall(frames []exectrace.Frame) string {
	for _, fr := range frames {
		switch symbol.Package(fr.Func) {
		case "syscall", "internal/runtime/syscall", "internal/runtime/syscall/linux", "internal/syscall/unix", "internal/poll", "runtime", "golang.org/x/sys/unix":
			continue
		}
		return fr.Func
	}
	if len(frames) > 0 {
		return frames[0].Func
	}
	return ""
}
