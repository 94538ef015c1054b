package probe

import (
	hone0io "io"
	hone0runtime "runtime"
	hone0trace "runtime/trace"
	hone0strconv "strconv"
	hone0strings "strings"
	hone0sync "sync"
	hone0time "time"
)

// hone0collect is what runs from the start of the program to its end.
type hone0collect struct {
	cpu, allocs, contention bool
	counters, inputs, leaks bool
	cpuWriter               *hone0sticky
	sampling                bool // a CPU profile runs, for the trace alone or for itself
	trace                   *hone0bounded
	traceStop               hone0sync.Once
}

// part sends a piece of what was collected: frames 'P' with "NAME\x00bytes".
func (p *hone0probe) part(name string) *hone0stream {
	return &hone0stream{p: p, kind: 'P', prefix: name + "\x00"}
}

// partDone ends a part: 'Q' with its name; one that is not available is an 'N'
// with "NAME\x00reason".
func (p *hone0probe) partDone(name, missing string) {
	if missing == "" {
		p.send(0, 'Q', []byte(name))
	} else {
		p.send(0, 'N', []byte(name+"\x00"+missing))
	}
}

// startCollecting starts what the words ask for. The CPU profile comes last, so
// that the rest is not in it.
func (p *hone0probe) startCollecting(words []string) {
	c := &p.collect
	for _, word := range words {
		value := ""
		if i := hone0strings.IndexByte(word, '='); i >= 0 {
			word, value = word[:i], word[i+1:]
		}
		values := hone0strings.Split(value, ",")
		switch word {
		case "cpu":
			c.cpu = true
		case "allocs":
			c.allocs = true
			p.sendProfile("heap.start", "heap", 0, true)
		case "contention":
			c.contention = true
			hone0setRates(hone0number(values, 0, -1), hone0number(values, 1, -1))
		case "counters":
			c.counters = true
		case "leaks":
			c.leaks = true
		case "inputs":
			c.inputs = true
			hone0collectInputs()
		case "trace":
			c.trace = &hone0bounded{
				hone0sticky: hone0sticky{w: p.part("trace")},
				limit:       hone0number(values, 0, 0),
				full:        make(chan bool, 1),
			}
		}
	}
	p.collectTrace()
	p.collectCPU()
}

func (p *hone0probe) sendProfile(part, name string, debug int, gc bool) {
	missing, err := hone0writeProfile(p.part(part), name, debug, gc)
	if err != nil {
		missing = err.Error()
	}
	p.partDone(part, missing)
}

func (p *hone0probe) collectTrace() {
	c := &p.collect
	if c.trace == nil {
		return
	}
	if err := hone0trace.Start(c.trace); err != nil {
		p.partDone("trace", err.Error())
		c.trace = nil
		return
	}
	go func() {
		<-c.trace.full
		p.stopTrace(true)
	}()
}

// stopTrace ends the trace: at the end of the program, or because it is full.
func (p *hone0probe) stopTrace(full bool) {
	c := &p.collect
	if c.trace == nil {
		return
	}
	c.traceStop.Do(func() {
		hone0trace.Stop()
		missing := ""
		if c.trace.err != nil {
			missing = c.trace.err.Error()
		} else if full {
			p.send(0, 'T', []byte("trace"))
		}
		p.partDone("trace", missing)
	})
}

// collectCPU starts the CPU profile; a trace needs it too, for its samples.
func (p *hone0probe) collectCPU() {
	c := &p.collect
	if !c.cpu && c.trace == nil {
		return
	}
	var w hone0io.Writer = hone0io.Discard
	if c.cpu {
		c.cpuWriter = &hone0sticky{w: p.part("cpu")}
		w = c.cpuWriter
	}
	missing := p.startCPU(w, 0)
	if missing != "" && c.cpu {
		p.partDone("cpu", missing)
		c.cpu = false
	}
	c.sampling = missing == ""
}

// finishCollecting sends what was collected. It stops the clocks first.
func (p *hone0probe) finishCollecting() {
	c := &p.collect
	p.stopTrace(false)
	if c.sampling {
		p.stopCPU()
	}
	if c.cpu {
		missing := ""
		if c.cpuWriter.err != nil {
			missing = c.cpuWriter.err.Error()
		}
		p.partDone("cpu", missing)
	}
	p.sendAccount()
	if c.contention {
		hone0setRates(0, 0)
		p.sendProfile("block", "block", 0, false)
		p.sendProfile("mutex", "mutex", 0, false)
	}
	if c.allocs {
		p.sendProfile("heap.end", "heap", 0, true)
		p.sendProfile("goroutine", "goroutine", 0, false)
	}
	if c.leaks {
		p.sendProfile("goroutine.txt", "goroutine", 2, false)
		p.sendProfile("goroutineleak", "goroutineleak", 0, false)
	}
	if c.inputs {
		missing, err := hone0inputsCommand(p.part("inputs"), "read")
		if err != nil {
			missing = err.Error()
		}
		p.partDone("inputs", missing)
	}
	if c.counters {
		p.sendCoverage("counters.meta", "meta")
		p.sendCoverage("counters", "counters")
	}
}

func (p *hone0probe) sendCoverage(part, what string) {
	missing, err := hone0coverage(p.part(part), what)
	if err != nil {
		missing = err.Error()
	}
	p.partDone(part, missing)
}

// sendAccount sends what the program used: CPU time of its children, its own in the kernel, page
// faults, its largest size; bytes and objects allocated, and collections that were not forced,
// since the probe started; the collector's CPU time and that of everything, and the time for which
// goroutines waited for locks, -1 if the runtime does not count it. The runtime counts small
// objects when it takes a new block for them; to count them all it must stop the world, which a
// trace would show.
func (p *hone0probe) sendAccount() {
	var m hone0runtime.MemStats
	hone0runtime.ReadMemStats(&m)
	children, system, faults := hone0account()
	text := ""
	for _, n := range []int64{children, system, faults, hone0peak(),
		int64(m.TotalAlloc - p.began.TotalAlloc), int64(m.Mallocs - p.began.Mallocs),
		int64(m.NumGC-m.NumForcedGC) - int64(p.began.NumGC-p.began.NumForcedGC),
		hone0since("/cpu/classes/gc/total:cpu-seconds", "/cpu/classes/gc/mark/idle:cpu-seconds"),
		hone0since("/cpu/classes/total:cpu-seconds", "/cpu/classes/idle:cpu-seconds", "/cpu/classes/gc/mark/idle:cpu-seconds"),
		hone0since("/sync/mutex/wait/total:seconds")} {
		text += hone0strconv.FormatInt(n, 10) + " "
	}
	p.send(0, 'A', []byte(text))
}

// atExit is the exit hook: the program returned from main or called os.Exit. It
// lets requests under way finish with what they have, sends what was collected,
// and never holds the program longer than its grace.
func (p *hone0probe) atExit() {
	p.state.Lock()
	p.ending = true
	for _, r := range p.running {
		r.end()
	}
	p.state.Unlock()
	began := hone0time.Now()
	cpu, _ := hone0usage()
	done := make(chan bool, 2)
	go func() {
		p.send(0, 'B', nil)
		p.finished.Do(p.finishCollecting)
		done <- true
	}()
	go func() {
		p.pending.Wait()
		done <- true
	}()
	finish := hone0time.After(hone0finishGrace)
	for i := 0; i < 2; i++ {
		select {
		case <-done:
		case <-finish:
			return
		}
	}
	end, _ := hone0usage()
	p.send(0, 'Z', []byte(hone0strconv.FormatInt(end-cpu, 10)+" "+
		hone0strconv.FormatInt(int64(hone0time.Since(began)), 10)))
}
