package diagnose

import (
	"bytes"
	"math"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile"
)

// faulty is of a service of 1,000 requests per second with that many page faults per second, and a
// part of its CPU time in the kernel.
func faulty(faults int64, system float64) *rule.Pass {
	p := pass()
	for i := range p.Manifest.Phases {
		ph := &p.Manifest.Phases[i]
		ph.Requests, ph.PageFaults = int64(1000*ph.Seconds), int64(float64(faults)*ph.Seconds)
		ph.SystemCPUSeconds = system * ph.CPUSeconds
	}
	return p
}

// TestFaults: page faults that cost much are reported.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		faults int64 // per second
		system float64
		want   string
	}{
		{64_000, 0.5, "64,000 page faults a second, 64 for each request, and 50 % of the CPU time in the kernel"},
		{64_000, 0.1, ""},
		{500, 0.5, ""},
	} {
		p := faulty(c.faults, c.system)
		got := strings.Join(newEngine(p, price).faultNotes(), " ")
		if !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%d faults a second, %v of the CPU time in the kernel: %q, want %q", c.faults, c.system, got, c.want)
		}
	}
}

// TestFaultsOfFiles: if a profile shows hardly any memory being returned to the system, the heap is
// not blamed.
func TestFaultsOfFiles(t *testing.T) {
	for back, want := range map[int64]string{100: "memory that was returned", 2: "so it is mapped files"} {
		p := faulty(64_000, 0.5)
		touching := at("main.f", "f.go", 1)
		touching.CPU = []*site.Row{cpu(back, "runtime.madvise", "runtime.bgscavenge"), cpu(1000-back, "main.f")}
		p.Table.Sites = append(p.Table.Sites, touching)
		if got := strings.Join(newEngine(p, price).faultNotes(), " "); !strings.Contains(got, want) {
			t.Errorf("%d samples in handing back: %q, want %q", back, got, want)
		}
	}
}

// TestFaultsOfRuns: faults of a program that exits are reported per run.
func TestFaultsOfRuns(t *testing.T) {
	p := pass()
	for i := range p.Manifest.Phases {
		ph := &p.Manifest.Phases[i]
		ph.Runs, ph.PageFaults, ph.SystemCPUSeconds = 4, int64(64_000*ph.Seconds), 0.5*ph.CPUSeconds
	}
	clean := p.Manifest.Phases[slices.IndexFunc(p.Manifest.Phases, func(ph recording.Phase) bool { return ph.Name == recording.PhaseClean })]
	want := units.Count(clean.PageFaults/4) + " page faults a run, and 50 % of the CPU time in the kernel"
	if got := strings.Join(newEngine(p, price).faultNotes(), " "); !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSavingFaults: of 10 CPU-seconds 6 are in the kernel, 1 of them in system calls, which also
// return memory. The line allocates half of all bytes and has 2 seconds: of the 5 for faults, half
// is for its memory, and four fifths of that are at other lines.
func TestSavingFaults(t *testing.T) {
	back := int64(50) // samples in returning memory
	save := func(p *rule.Pass, bytes int64) Saving {
		t.Helper()
		makes := finds("makes", rule.Match{
			Site: at("main.f", "f.go", 1), CPU: []*site.Row{cpu(200, "main.f")}, Allocs: []*site.Row{row(10, bytes, "main.f")},
		})
		others := at("main.g", "g.go", 1)
		others.CPU = []*site.Row{
			cpu(100-back, "internal/runtime/syscall/linux.Syscall6", "main.g"), cpu(back, "runtime.madvise", "runtime.bgscavenge"), cpu(700, "main.touch", "main.g"),
		}
		p.Table.Sites = append(p.Table.Sites, others)
		r, err := run(t.Context(), p, prices{}, []rule.Rule{makes}, Choice{})
		if err != nil || len(r.Findings) != 1 || r.Findings[0].Saving == nil {
			t.Fatal(r, err)
		}
		return *r.Findings[0].Saving
	}
	plain, more := save(pass(), 50<<20), save(faulty(64_000, 0.6), 50<<20)
	if want := crowded(0.8*(0.2+0.5*0.5*0.8)) - crowded(0.8*0.2); math.Abs(more.Share-plain.Share-want) > 1e-6 {
		t.Errorf("saves %.4f, without faults %.4f; want %.4f more", more.Share, plain.Share, want)
	}
	if more.Low < plain.Low || more.High < plain.High+0.1 {
		t.Errorf("%+v, without faults %+v", more, plain)
	}
	ends := faulty(64_000, 0.6)
	for i := range ends.Manifest.Phases {
		ends.Manifest.Phases[i].Runs = 3
	}
	for what, got := range map[string]Saving{
		"few faults":           save(faulty(500, 0.6), 50<<20),
		"little in kernel":     save(faulty(64_000, 0.2), 50<<20),
		"a program that exits": save(ends, 50<<20),
	} {
		if got != plain {
			t.Errorf("%s: %+v, want %+v", what, got, plain)
		}
	}
	if none, few := save(pass(), 0), save(faulty(64_000, 0.6), 0); none != few {
		t.Errorf("a line that makes no memory saves %+v, with faults %+v", none, few)
	}
	back = 0
	if got := save(faulty(64_000, 0.6), 50<<20); got != plain {
		t.Errorf("files are mapped: %+v, want %+v", got, plain)
	}
}

// TestEntries: the functions in which this toolchain's stacks end in a system call are known.
func TestEntries(t *testing.T) {
	live.Only(t)
	if runtime.GOOS != "linux" {
		t.Skip("page faults are known on Linux")
	}
	null, err := os.OpenFile("/dev/zero", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var b bytes.Buffer
	if err := pprof.StartCPUProfile(&b); err != nil {
		t.Fatal(err)
	}
	page := make([]byte, 1<<20)
	for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); {
		null.Read(page)
	}
	pprof.StopCPUProfile()
	p, err := profile.Decode(&b, 0)
	if err != nil {
		t.Fatal(err)
	}
	all, asked := int64(0), int64(0)
	for i := range p.NumSamples() {
		n := p.Values(0)[i]
		all += n
		leaf := p.Locations[p.Stack(i)[0]].Lines[0]
		if funcname.Match(p.Functions[leaf.Func].Name, entries...) {
			asked += n
		}
	}
	if all > 0 && float64(asked) < 0.8*float64(all) {
		t.Errorf("%d of %d samples end in a system call", asked, all)
	}
}
