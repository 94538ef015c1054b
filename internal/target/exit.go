package target

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Exit describes how a program exited.
type Exit struct {
	Code   int    // -1 by signal
	Signal string // "killed"
	Wall   time.Duration
	Usage  Usage    // by the kernel's count; where the probe saw the exit, children are separate, else they are included
	Stderr []string // last lines

	// Heap is what the probe saw at the exit; zero unless main returned or the program called
	// os.Exit.
	Heap Heap

	// Stopped reports that hone stopped it.
	Stopped bool
	// ProbeWall and ProbeCPUSeconds are the parts of Wall and Usage.CPUSeconds that the probe took
	// at the exit to deliver what it had collected; 0 unless main returned or the program called
	// os.Exit.
	ProbeWall       time.Duration
	ProbeCPUSeconds float64
	// DroppedStdout and DroppedStderr count the bytes beyond OutputCap. Where hone has to cut a
	// file back while the program writes to it (not on Linux), what comes at that moment is not
	// counted.
	DroppedStdout int64
	DroppedStderr int64
}

// Heap is the program's heap activity since the probe started.
type Heap struct {
	AllocBytes   int64
	AllocObjects int64
	GCCycles     int64    // not counting forced ones
	GCSeconds    *float64 // CPU time of the collector, without what it did on CPUs that were idle; nil: the runtime does not count it
	BusySeconds  *float64 // that of everything by the same clock, until the last collection; nil likewise
	LockSeconds  *float64 // for which goroutines waited for mutexes, all added up; nil likewise
}

// Failure describes a failed exit in one line ("exit code 2; last lines on stderr: …"), "" for a
// successful one.
func (e Exit) Failure() string {
	if e.Code == 0 && e.Signal == "" {
		return ""
	}
	s := e.how()
	if len(e.Stderr) > 0 {
		s += "; last lines on stderr: " + strings.Join(e.Stderr, " | ")
	}
	return s
}

func (e Exit) how() string {
	switch {
	case e.Signal != "":
		return "signal " + e.Signal
	case e.Code < 0:
		return "how is not known, as hone did not start it"
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

const (
	stderrLines = 10
	stderrTail  = 16 << 10 // bytes kept to find them in
)

// lastLines returns the last non-empty lines of stderr. A Go program prints the reason of its crash
// before its goroutines: where there are goroutines, the lines start at the reason.
func lastLines(tail []byte) []string {
	var lines []string
	death := -1
	for line := range strings.Lines(string(tail)) {
		line = strings.TrimRight(line, " \t\r\n")
		if line == "" {
			continue
		}
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			death = len(lines)
		}
		lines = append(lines, line)
	}
	if death >= 0 {
		return lines[death:min(death+stderrLines, len(lines))]
	}
	return lines[max(0, len(lines)-stderrLines):]
}

// LastLines reads the last non-empty lines of a file that a running program writes to. Where
// net/http logged a handler's panic, they start at the last one. It returns nothing when the file
// cannot be read.
func LastLines(file string) []string {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil
	}
	tail := make([]byte, min(size, stderrTail))
	n, err := f.ReadAt(tail, size-int64(len(tail)))
	if err != nil && err != io.EOF {
		return nil
	}
	if i := bytes.LastIndex(tail[:n], []byte("http: panic serving ")); i >= 0 {
		return panicWords(tail[bytes.LastIndexByte(tail[:i], '\n')+1 : n])
	}
	return lastLines(tail[:n])
}

// panicWords returns the message of a handler's panic and the innermost frame of the handler: the
// two lines after those of runtime.gopanic.
func panicWords(text []byte) []string {
	var words []string
	after := 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case len(words) == 0:
			words = append(words, line)
		case after > 0:
			if after++; after > 2 {
				words = append(words, line)
			}
		case strings.HasPrefix(line, "panic("):
			after = 1
		}
		if len(words) == 3 {
			break
		}
	}
	return words
}

// exitOf reads what the kernel reports of an exited process.
func exitOf(st *os.ProcessState) Exit {
	e := Exit{Code: -1}
	if st == nil {
		return e
	}
	e.Code = st.ExitCode()
	e.Signal = exitSignal(st)
	e.Usage = Usage{
		CPUSeconds: (st.UserTime() + st.SystemTime()).Seconds(),
		MaxRSS:     maxRSS(st),
	}
	return e
}
