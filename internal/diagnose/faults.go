package diagnose

import (
	"fmt"
	"math"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/stats"
)

// manyFaults is the minimum number of page faults a second that is worth a note, at a microsecond
// each and more, if so much of the CPU is in the kernel.
const manyFaults, faultingShare = 10_000, 0.25

// littleFetched is the part of the CPU time for heap memory below which faults do not explain the
// time in the kernel.
const littleFetched = 0.05

// faulting reports whether page faults cost enough for a note.
func faulting(ph recording.Phase) bool {
	return ph.Seconds > 0 && ph.CPUSeconds > 0 &&
		float64(ph.PageFaults) >= manyFaults*ph.Seconds && ph.SystemCPUSeconds >= faultingShare*ph.CPUSeconds
}

// entries are the leaf functions of a stack whose thread is in the kernel because of a system call.
// The stack of a page fault ends at the line that touched the page.
var entries = []string{
	"internal/runtime/syscall/*", "internal/runtime/syscall.*", "runtime/internal/syscall.*", "syscall.rawVforkSyscall",
	"runtime.futex", "runtime.madvise", "runtime.mmap", "runtime.munmap", "runtime.sysMmap", "runtime.sysMunmap",
	"runtime.usleep", "runtime.osyield", "runtime.tgkill", "runtime.clone", "runtime.read", "runtime.write1",
	"runtime.epollwait", "runtime.rtsigprocmask", "runtime.sigreturn*", "runtime.timer_settime", "runtime.mincore",
}

// fetching is how many times as long it takes at most to fetch and clear a page as to return it:
// eleven times were seen (case C). Faults beyond that are of other memory than the heap: of mapped
// files.
const fetching = 15

// faultSeconds returns the profile's CPU time in page faults on memory that the runtime had
// returned to the system: the kernel's time, less the profile's time in system calls. It includes
// interrupts, most of them the network's, which may be half of it. It is computed only for
// services: the faults of a run that exits are also those of its binary.
func (e *engine) faultSeconds() stats.Interval {
	ph, ok := e.profiled()
	if !ok || !faulting(ph) || ph.Runs > 0 || e.pass.Table == nil {
		return stats.Interval{}
	}
	asked, back := int64(0), int64(0)
	e.pass.EachRow(func(r *site.Row) {
		if len(r.Stack) == 0 {
			return
		}
		leaf := r.Stack[0].Function
		if funcname.Match(leaf, entries...) {
			asked += r.Value
		}
		if leaf == "runtime.madvise" {
			back += r.Value
		}
	})
	s := ph.SystemCPUSeconds/ph.CPUSeconds*e.totals.TotalSeconds - float64(asked)/1e9
	s = math.Max(0, math.Min(s, fetching*float64(back)/1e9))
	return stats.Interval{Value: s, Low: s / 2, High: s}
}

// faultsOf returns the part of the CPU that page faults take at other lines because of a draft's
// allocations: by its part of all allocated bytes, since memory goes back to the system and is
// fetched again as it is allocated and dropped. The faults on the draft's own lines, which its rows
// contain already, are assumed to be as large a part of all faults as the draft's part of the CPU.
// Their number is unknown, so the range goes from half of the other faults to all faults.
func (e *engine) faultsOf(d *draft) stats.Interval {
	if !(e.totals.TotalSeconds > 0) {
		return stats.Interval{}
	}
	f := e.faults.Scale(e.bytesShare(d.cost) / e.totals.TotalSeconds)
	others := math.Max(0, 1-d.cost.CPUSeconds/e.totals.TotalSeconds)
	return stats.Interval{Value: f.Value * others, Low: f.Low * others, High: f.High}
}

// faultNotes report CPU time at lines that happen to touch memory first.
func (e *engine) faultNotes() []string {
	ph, ok := e.reference()
	if !ok || !faulting(ph) {
		return nil
	}
	r := e.resources()
	if ph.Runs > 0 {
		return []string{fmt.Sprintf("%s page faults a run, and %s of the CPU time in the kernel: the first touch of each page of memory or of the binary is a fault, charged to the line that touches it; less memory, or more work per run, saves them",
			units.Count(ph.PageFaults/int64(ph.Runs)), units.Percent(r.SystemShare))}
	}
	of := ""
	if r.Throughput > 0 {
		of = fmt.Sprintf(", %s for each %s", units.Number(r.PageFaultRate/r.Throughput), e.manifest.Unit())
	}
	why := "memory that was returned to the system is faulted in again page by page, and the lines that touch it first are charged. Reusing large objects saves this too, and is part of the savings of the lines that allocate them; a larger GOGC reduces it"
	if e.totals.TotalSeconds > 0 && e.faults.Value < littleFetched*e.totals.TotalSeconds {
		why = "almost none of it is memory that the runtime had returned, so it is mapped files or memory outside Go's heap; the lines that touch it first are charged"
	}
	return []string{fmt.Sprintf("%s page faults a second%s, and %s of the CPU time in the kernel: %s",
		units.Count(int64(r.PageFaultRate)), of, units.Percent(r.SystemShare), why)}
}
