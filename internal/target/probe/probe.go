// Package probe is the source that hone adds to the program under measurement.
// Nothing imports it: package target embeds these files, joins them into one,
// writes the target's package name into the package clause and hands the result
// to the go command as an overlay.
//
// It is written for strangers. It lives in the package main of any program, so
// every import and every top-level name starts with hone0, and predeclared names
// that a program may have redefined (close, copy, delete, min, any, …) are not
// used. It must compile under an old language version (go 1.16 in go.mod), so no
// generics. It imports neither net nor net/http/pprof: those would link libc into
// a static program and make it several times as large.
//
// Without hone's environment variable it does nothing at all. With it, it serves
// requests over an inherited descriptor and hands over what it collected when the
// program exits. While it serves, a goroutine waits in the network poller, and
// therefore the runtime does not report a deadlock of the program.
package probe

import (
	hone0io "io"
	hone0os "os"
	hone0runtime "runtime"
	hone0strconv "strconv"
	hone0strings "strings"
	hone0sync "sync"
	hone0syscall "syscall"
	hone0time "time"
	_ "unsafe" // for go:linkname
)

// The names of what is linked by name; the linker allows it under -checklinkname=0.

//go:linkname hone0addExitHook internal/runtime/exithook.Add
func hone0addExitHook(hone0hook)

//go:linkname hone0blockRate runtime.blockprofilerate
var hone0blockRate uint64 // in ticks of the CPU's clock

// hone0hook has the layout of internal/runtime/exithook.Hook.
type hone0hook struct {
	F            func()
	RunOnFailure bool
}

const (
	hone0frameHeader = 9        // length of the payload, request, kind
	hone0chunk       = 32 << 10 // longest payload that is sent
	hone0maxRequest  = 1 << 12  // longest payload that is taken
)

const (
	hone0finishGrace = 15 * hone0time.Second // for everything that is sent at the end
	hone0cancelGrace = 3 * hone0time.Second  // for requests under way at the end
)

// The first file's first variable: nothing of package main starts earlier.
var _ = hone0start()

// hone0probe is the probe while hone listens.
type hone0probe struct {
	in, out *hone0os.File

	write hone0sync.Mutex // one frame at a time
	frame []byte

	state   hone0sync.Mutex
	running []*hone0request
	ending  bool
	pending hone0sync.WaitGroup

	sampling chan bool // holds a value while hone takes a CPU profile
	collect  hone0collect
	began    hone0runtime.MemStats
	finished hone0sync.Once
}

// hone0request is one request under way.
type hone0request struct {
	p    *hone0probe
	id   uint32
	stop chan bool // takes a value when the request shall come to its end
}

// hone0start reads what hone asked for and starts to serve it. The variable reads
// "IN OUT [cpu] [allocs] [contention=BLOCK,MUTEX] [trace=BYTES]".
func hone0start() bool {
	const variable = "HONE_PROBE"
	words := hone0strings.Fields(hone0os.Getenv(variable))
	hone0os.Unsetenv(variable)
	if len(words) < 2 {
		return false
	}
	in, err1 := hone0strconv.Atoi(words[0])
	out, err2 := hone0strconv.Atoi(words[1])
	if err1 != nil || err2 != nil {
		return false
	}
	p := &hone0probe{sampling: make(chan bool, 1)}
	p.in, p.out = hone0open(in, out)
	if p.in == nil {
		return false
	}
	p.send(0, 'H', []byte(hone0strconv.Itoa(hone0os.Getpid())))
	hone0addExitHook(hone0hook{F: p.atExit, RunOnFailure: true})
	go p.serve()
	hone0runtime.ReadMemStats(&p.began)
	p.startCollecting(words[2:])
	return true
}

// send writes one frame. Errors are hone's end of the line: serve sees it too.
func (p *hone0probe) send(id uint32, kind byte, payload []byte) error {
	p.write.Lock()
	defer p.write.Unlock()
	n := uint32(len(payload))
	p.frame = append(p.frame[:0],
		byte(n>>24), byte(n>>16), byte(n>>8), byte(n),
		byte(id>>24), byte(id>>16), byte(id>>8), byte(id), kind)
	p.frame = append(p.frame, payload...)
	_, err := p.out.Write(p.frame)
	return err
}

// hone0stream sends what is written to it as frames of one kind.
type hone0stream struct {
	p      *hone0probe
	id     uint32
	kind   byte
	prefix string // of each payload
}

func (s *hone0stream) Write(b []byte) (int, error) {
	n := 0
	for n < len(b) {
		end := n + hone0chunk
		if end > len(b) {
			end = len(b)
		}
		if err := s.p.send(s.id, s.kind, append([]byte(s.prefix), b[n:end]...)); err != nil {
			return n, err
		}
		n = end
	}
	return n, nil
}

// receive reads one request: its number and its words.
func (p *hone0probe) receive() (uint32, []string, error) {
	var h [hone0frameHeader]byte
	if _, err := hone0io.ReadFull(p.in, h[:]); err != nil {
		return 0, nil, err
	}
	n := uint32(h[0])<<24 | uint32(h[1])<<16 | uint32(h[2])<<8 | uint32(h[3])
	if n > hone0maxRequest {
		return 0, nil, hone0io.ErrShortBuffer
	}
	payload := make([]byte, n)
	if _, err := hone0io.ReadFull(p.in, payload); err != nil {
		return 0, nil, err
	}
	id := uint32(h[4])<<24 | uint32(h[5])<<16 | uint32(h[6])<<8 | uint32(h[7])
	return id, hone0strings.Fields(string(payload)), nil
}

// serve answers requests, each in its own goroutine, until hone goes. A program
// whose hone has gone is an orphan: it ends.
func (p *hone0probe) serve() {
	for {
		id, words, err := p.receive()
		if err != nil {
			p.state.Lock()
			ending := p.ending
			p.state.Unlock()
			if !ending && hone0hungUp(err) {
				hone0die()
			}
			return
		}
		if len(words) == 0 {
			continue
		}
		if words[0] == "cancel" {
			p.cancel(id)
			continue
		}
		r := &hone0request{p: p, id: id, stop: make(chan bool, 1)}
		p.state.Lock()
		p.running = append(p.running, r)
		p.pending.Add(1)
		if p.ending {
			r.end()
		}
		p.state.Unlock()
		go r.answer(words)
	}
}

// hone0hungUp reports whether the other end has closed. Another error means that the
// program closed the descriptor, which is not a reason to stop it.
func hone0hungUp(err error) bool {
	if pe, ok := err.(*hone0os.PathError); ok {
		err = pe.Err
	}
	return err == hone0io.EOF || err == hone0io.ErrUnexpectedEOF || err == hone0syscall.ECONNRESET
}

// end asks the request to come to its end.
func (r *hone0request) end() {
	select {
	case r.stop <- true:
	default:
	}
}

// cancel ends the request with that number.
func (p *hone0probe) cancel(id uint32) {
	p.state.Lock()
	defer p.state.Unlock()
	for _, r := range p.running {
		if r.id == id {
			r.end()
		}
	}
}

// answer does what the words say and sends the end of the answer: 'E' with a
// note, 'X' with an error, 'M' with the reason why the thing is not available.
func (r *hone0request) answer(words []string) {
	defer r.p.pending.Done()
	note, missing, err := r.do(words)
	r.p.state.Lock()
	kept := r.p.running[:0]
	for _, other := range r.p.running {
		if other != r {
			kept = append(kept, other)
		}
	}
	r.p.running = kept
	r.p.state.Unlock()
	switch {
	case missing != "":
		r.p.send(r.id, 'M', []byte(missing))
	case err != nil:
		r.p.send(r.id, 'X', []byte(err.Error()))
	default:
		r.p.send(r.id, 'E', []byte(note))
	}
}

// data is what takes the body of the answer.
func (r *hone0request) data() *hone0stream {
	return &hone0stream{p: r.p, id: r.id, kind: 'D'}
}

// sleep waits for so long, for the end of the request, or for full; it
// reports whether full came first.
func (r *hone0request) sleep(d hone0time.Duration, full chan bool) bool {
	t := hone0time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.stop:
	case <-full:
		return true
	}
	return false
}

// hone0number reads an argument; what is not a number is def.
func hone0number(words []string, i int, def int64) int64 {
	if i >= len(words) {
		return def
	}
	n, err := hone0strconv.ParseInt(words[i], 10, 64)
	if err != nil {
		return def
	}
	return n
}
