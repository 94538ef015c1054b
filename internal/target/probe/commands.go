package probe

import (
	hone0io "io"
	hone0os "os"
	hone0runtime "runtime"
	hone0debug "runtime/debug"
	hone0metrics "runtime/metrics"
	hone0pprof "runtime/pprof"
	hone0trace "runtime/trace"
	hone0strconv "strconv"
	hone0strings "strings"
	hone0atomic "sync/atomic"
	hone0time "time"
)

// do carries out one request. missing is the reason why a thing is not available.
func (r *hone0request) do(words []string) (note, missing string, err error) {
	switch words[0] {
	case "info":
		_, err = hone0io.WriteString(r.data(), hone0info())
	case "metrics":
		_, err = r.data().Write(hone0readMetrics())
	case "usage":
		cpu, maxRSS := hone0usage()
		note = hone0strconv.FormatInt(cpu, 10) + " " + hone0strconv.FormatInt(maxRSS, 10)
	case "profile":
		if len(words) < 4 {
			return "", "", hone0io.ErrUnexpectedEOF
		}
		missing, err = hone0writeProfile(r.data(), words[1], int(hone0number(words, 2, 0)), words[3] == "1")
	case "cpu":
		missing, err = r.cpu(hone0time.Duration(hone0number(words, 1, 0)))
	case "trace":
		note, missing, err = r.trace(hone0time.Duration(hone0number(words, 1, 0)), hone0number(words, 2, 0))
	case "rates":
		note = hone0setRates(hone0number(words, 1, -1), hone0number(words, 2, -1))
	case "restore":
		note = hone0restoreRates(hone0number(words, 1, -1), hone0number(words, 2, -1))
	case "gc":
		note = hone0setGC(words)
	case "coverage":
		if len(words) < 2 {
			return "", "", hone0io.ErrUnexpectedEOF
		}
		missing, err = hone0coverage(r.data(), words[1])
	case "inputs":
		if len(words) < 2 {
			return "", "", hone0io.ErrUnexpectedEOF
		}
		missing, err = hone0inputsCommand(r.data(), words[1])
	case "finish":
		r.p.finished.Do(r.p.finishCollecting)
	default:
		missing = "the probe does not know " + words[0]
	}
	return note, missing, err
}

// hone0info describes the program: lines "key value", an empty line, and the text
// of its build info.
func hone0info() string {
	var stacks hone0strings.Builder
	if p := hone0pprof.Lookup("goroutine"); p != nil {
		p.WriteTo(&stacks, 1)
	}
	listening := hone0strings.Contains(stacks.String(), "internal/poll.(*FD).Accept+")
	percent, limit := hone0gcSettings()
	text := "pid " + hone0strconv.Itoa(hone0os.Getpid()) +
		"\ngo " + hone0runtime.Version() +
		"\ngoos " + hone0runtime.GOOS +
		"\ngoarch " + hone0runtime.GOARCH +
		"\ngomaxprocs " + hone0strconv.Itoa(hone0runtime.GOMAXPROCS(0)) +
		"\ngogc " + hone0strconv.FormatInt(percent, 10) +
		"\ngomemlimit " + hone0strconv.FormatInt(limit, 10) +
		"\nlistening " + hone0strconv.FormatBool(listening) + "\n\n"
	if bi, ok := hone0debug.ReadBuildInfo(); ok {
		text += bi.String()
	}
	return text
}

// hone0writeProfile writes a named profile.
func hone0writeProfile(w hone0io.Writer, name string, debug int, gc bool) (missing string, err error) {
	p := hone0pprof.Lookup(name)
	if p == nil {
		return hone0runtime.Version() + " has no profile of that name", nil
	}
	if gc {
		hone0runtime.GC()
	}
	return "", p.WriteTo(w, debug)
}

// startCPU starts a CPU profile unless there is one, and says whose that is. One of
// hone's own that is coming to its end is awaited.
func (p *hone0probe) startCPU(w hone0io.Writer, patience hone0time.Duration) (missing string) {
	select {
	case p.sampling <- true: // at once, or after a while
	default:
		select {
		case p.sampling <- true:
		case <-hone0time.After(patience):
			return "hone is taking one already"
		}
	}
	if err := hone0pprof.StartCPUProfile(w); err != nil {
		<-p.sampling
		return "the program already runs a CPU profile of its own: " + err.Error()
	}
	return ""
}

func (p *hone0probe) stopCPU() {
	hone0pprof.StopCPUProfile()
	<-p.sampling
}

// cpu profiles the CPU for d, or to the end of the request.
func (r *hone0request) cpu(d hone0time.Duration) (missing string, err error) {
	w := &hone0sticky{w: r.data()}
	if missing := r.p.startCPU(w, hone0time.Second); missing != "" {
		return missing, nil
	}
	r.sleep(d, nil)
	r.p.stopCPU()
	return "", w.err
}

// hone0sticky remembers the first error of a writer whose user does not tell.
type hone0sticky struct {
	w   hone0io.Writer
	err error
}

func (s *hone0sticky) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	if err != nil && s.err == nil {
		s.err = err
	}
	return n, err
}

// hone0bounded passes everything on, and tells once more than limit bytes have
// passed. It cannot refuse bytes: a trace without its end is unreadable.
type hone0bounded struct {
	hone0sticky
	limit  int64 // 0: none
	passed int64
	full   chan bool
	over   bool
}

func (b *hone0bounded) Write(p []byte) (int, error) {
	b.passed += int64(len(p))
	if b.limit > 0 && b.passed >= b.limit && !b.over {
		b.over = true
		b.full <- true
	}
	return b.hone0sticky.Write(p)
}

// trace writes an execution trace with CPU samples in it. Its note is "truncated"
// when limit ended it.
func (r *hone0request) trace(d hone0time.Duration, limit int64) (note, missing string, err error) {
	w := &hone0bounded{hone0sticky: hone0sticky{w: r.data()}, limit: limit, full: make(chan bool, 1)}
	if err := hone0trace.Start(w); err != nil {
		return "", "hone or the program itself is taking one already: " + err.Error(), nil
	}
	sampled := r.p.startCPU(hone0io.Discard, 0) == ""
	if r.sleep(d, w.full) {
		note = "truncated"
	}
	hone0trace.Stop()
	if sampled {
		r.p.stopCPU()
	}
	return note, "", w.err
}

// hone0setRates sets the sampling of blocking (ns per sample) and of mutexes (one
// in n); a negative one is left alone. It tells what restores the old ones.
func hone0setRates(block, mutex int64) string {
	old := hone0atomic.LoadUint64(&hone0blockRate)
	if block >= 0 {
		hone0runtime.SetBlockProfileRate(int(block))
	}
	fraction := hone0runtime.SetMutexProfileFraction(-1)
	if mutex >= 0 {
		hone0runtime.SetMutexProfileFraction(int(mutex))
	}
	return hone0strconv.FormatUint(old, 10) + " " + hone0strconv.Itoa(fraction)
}

// hone0restoreRates takes what hone0setRates reported. The block rate goes back as the
// runtime keeps it, because SetBlockProfileRate rounds.
func hone0restoreRates(block, mutex int64) string {
	if block >= 0 {
		hone0atomic.StoreUint64(&hone0blockRate, uint64(block))
	}
	if mutex >= 0 {
		hone0runtime.SetMutexProfileFraction(int(mutex))
	}
	return ""
}

// hone0gcSettings reads GOGC (-1: off) and the memory limit (0: none).
func hone0gcSettings() (percent, limit int64) {
	s := []hone0metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/gomemlimit:bytes"}}
	hone0metrics.Read(s)
	if s[0].Value.Kind() == hone0metrics.KindUint64 {
		percent = int64(s[0].Value.Uint64())
		if percent < 0 || percent > 1<<31-1 {
			percent = -1
		}
	}
	if s[1].Value.Kind() == hone0metrics.KindUint64 {
		limit = hone0limit(int64(s[1].Value.Uint64()))
	}
	return percent, limit
}

// hone0limit turns the runtime's "no limit" into 0.
func hone0limit(n int64) int64 {
	if n < 0 || n == 1<<63-1 {
		return 0
	}
	return n
}

// hone0setGC sets the GC percent and the memory limit, "-" leaves one alone, and
// tells the old ones.
func hone0setGC(words []string) string {
	percent, limit := hone0gcSettings()
	if len(words) > 1 && words[1] != "-" {
		percent = int64(hone0debug.SetGCPercent(int(hone0number(words, 1, 100))))
	}
	if len(words) > 2 && words[2] != "-" {
		n := hone0number(words, 2, 0)
		if n <= 0 {
			n = 1<<63 - 1
		}
		limit = hone0limit(hone0debug.SetMemoryLimit(n))
	}
	return hone0strconv.FormatInt(percent, 10) + " " + hone0strconv.FormatInt(limit, 10)
}
