package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// cpuUnit is the unit of CPU time: user and system time of all threads of the process while the
// benchmark's timer runs.
const cpuUnit = "cpu-ns/op"

// edits are the changes to testing/benchmark.go, and how often each place occurs in Go 1.23 to
// 1.26.
var edits = []struct {
	old, new string
	times    int
}{
	{"b.start = highPrecisionTimeNow()", "hone0cpuStart(b); b.start = highPrecisionTimeNow()", 2},
	{"b.duration += highPrecisionTimeSince(b.start)", "b.duration += highPrecisionTimeSince(b.start); hone0cpuStop(b)", 1},
	{"\n\tb.duration = 0\n", "\n\tb.duration = 0; hone0cpuReset(b)\n", 1},
	{"b.result = BenchmarkResult{b.N,", "hone0cpuReport(b); b.result = BenchmarkResult{b.N,", 1},
}

// clock is the file of package testing that reads the CPU time.
const clock = `package testing

import (
	"sync"
	"syscall"
)

var hone0cpu struct {
	sync.Mutex
	start, total map[*B]int64
}

func hone0cpuNow() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

func hone0cpuStart(b *B) {
	hone0cpu.Lock()
	if hone0cpu.start == nil {
		hone0cpu.start, hone0cpu.total = map[*B]int64{}, map[*B]int64{}
	}
	hone0cpu.start[b] = hone0cpuNow()
	hone0cpu.Unlock()
}

func hone0cpuStop(b *B) {
	now := hone0cpuNow()
	hone0cpu.Lock()
	hone0cpu.total[b] += now - hone0cpu.start[b]
	hone0cpu.Unlock()
}

func hone0cpuReset(b *B) {
	hone0cpu.Lock()
	delete(hone0cpu.total, b)
	hone0cpu.Unlock()
}

func hone0cpuReport(b *B) {
	hone0cpu.Lock()
	defer hone0cpu.Unlock()
	if b.N > 0 && b.extra != nil {
		b.extra["` + cpuUnit + `"] = float64(hone0cpu.total[b]) / float64(b.N)
	}
}
`

// timerOverlay writes a copy of package testing's timer that also reads the CPU time into dir, and
// returns the build overlay that substitutes it. It returns an error for a system without getrusage
// and for a toolchain with a different timer.
func timerOverlay(goroot, dir string) (map[string]string, error) {
	if runtime.GOOS == "windows" {
		return nil, errors.New("the system has no getrusage")
	}
	path := filepath.Join(goroot, "src", "testing", "benchmark.go")
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	text := string(src)
	for _, e := range edits {
		if n := strings.Count(text, e.old); n != e.times {
			return nil, fmt.Errorf("%s has %q %d times, not %d: hone does not support this version of Go", path, e.old, n, e.times)
		}
		text = strings.ReplaceAll(text, e.old, e.new)
	}
	overlay := map[string]string{}
	for name, text := range map[string]string{"benchmark.go": "//line " + path + ":1\n" + text, "hone_cpu.go": clock} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return nil, err
		}
		overlay[filepath.Join(goroot, "src", "testing", name)] = file
	}
	return overlay, nil
}
