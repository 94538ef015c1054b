package wall_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/hone-go/hone/exectrace/internal/tracetext"
	"github.com/hone-go/hone/exectrace/wall"
)

// TestThreadOfC has a C thread call into Go a hundred times before one of the calls waits: only
// then its goroutine gets its first stack. All its time belongs to the exported function.
func TestThreadOfC(t *testing.T) {
	const calls = 100
	const lock = `"sync.(*Mutex).Lock mutex.go:46;main.answer a.go:7;_cgoexp_1_answer _cgo_gotypes.go:9;runtime.cgocallbackg1 cgocall.go:446;runtime.cgocallbackg cgocall.go:350;runtime.cgocallback asm.s:1084"`
	var text strings.Builder
	text.WriteString(`trace 26
generation 1
thread 1 time=100
ProcStatus p=0 pstatus=1
GoStatus g=1 m=1 gstatus=2
thread 9 time=200
GoCreateSyscall new_g=40
ProcStatus p=1 pstatus=2
`)
	for i := range calls {
		fmt.Fprintf(&text, `ProcStart dt=10 p=1 p_seq=%d
GoSyscallEndBlocked dt=10
GoStart dt=10 g=40 g_seq=%d
GoSyscallBegin dt=10 p_seq=%d
ProcStop dt=10
`, 2*i+1, i+1, 2*i+2)
	}
	fmt.Fprintf(&text, `ProcStart dt=10 p=1 p_seq=%d
GoSyscallEndBlocked dt=10
GoStart dt=10 g=40 g_seq=%d
GoBlock dt=10 reason_string="sync" stack=%s
GoUnblock dt=10 g=40 g_seq=%d
GoStart dt=10 g=40 g_seq=%d
GoDestroy dt=10
`, 2*calls+1, calls+1, lock, calls+2, calls+3)
	data, err := tracetext.Assemble(text.String())
	if err != nil {
		t.Fatal(err)
	}
	f := read(t, data)
	var group *wall.Group
	for _, g := range f.Goroutines().Groups {
		if g.Function == "main.answer" {
			group = &g
		} else if g.Function != "main.main" && g.Created+g.Found != 1 {
			t.Errorf("a group of nobody: %+v", g)
		}
	}
	if group == nil {
		t.Fatalf("no group of the exported function: %+v", f.Goroutines().Groups)
	}
	if group.Runtime || group.Created != 1 || group.Found != 0 || group.Ended != 1 || len(group.Spawns) != 0 {
		t.Errorf("%+v", group)
	}
	var sum float64
	count := map[string]int64{}
	for _, p := range group.Parts {
		sum += p.Seconds
		count[p.What] += p.Count
	}
	if math.Abs(sum-group.Seconds) > 1e-12 || count["running"] != calls+2 || count["syscall"] != calls+1 {
		t.Errorf("parts sum to %g of %g s: %v", sum, group.Seconds, count)
	}
	if lines := f.Syscalls().Lines; len(lines) != 1 || lines[0].Call != "C, between calls into Go" || lines[0].Count != calls+1 {
		t.Errorf("its time in C is %+v", lines)
	}
	if locks := f.Blocking().Locks; len(locks) != 1 || locks[0].Kind != "mutex" {
		t.Errorf("its wait is for %+v", locks)
	}
}
