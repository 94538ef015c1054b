package target

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Frames between hone and the probe: the payload's length, the number of the
// request that it belongs to (both big endian uint32), a kind, the payload.
//
// From hone, kind 'R': the words of a request, or "cancel". From the probe:
//
//	H  hello, the process id            D  a piece of an answer
//	E  the answer's end, a note         X  the answer is an error
//	M  it is not available, and why     P  NAME\0 a piece of a collected part
//	Q  the part NAME is whole           N  NAME\0 why there is no such part
//	T  the part NAME met its limit      B  the program exits
//	A  what the program took: see sendAccount in the probe
//	Z  the end; CPU and wall time that it took since B, in ns
const (
	frameHeader = 9
	maxFrame    = 64 << 10
)

// maxAnswer bounds what one answer or part may take in memory.
const maxAnswer = 1 << 30

type frame struct {
	id      uint32
	kind    byte
	payload []byte
}

func readFrame(r io.Reader) (frame, error) {
	var h [frameHeader]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return frame{}, err
	}
	n := binary.BigEndian.Uint32(h[:])
	if n > maxFrame {
		return frame{}, fmt.Errorf("the probe's descriptor carries something else: a frame of %d bytes", n)
	}
	f := frame{id: binary.BigEndian.Uint32(h[4:]), kind: h[8], payload: make([]byte, n)}
	_, err := io.ReadFull(r, f.payload)
	return f, err
}

func appendFrame(b []byte, f frame) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(f.payload)))
	b = binary.BigEndian.AppendUint32(b, f.id)
	b = append(b, f.kind)
	return append(b, f.payload...)
}

// wire exchanges frames with the probe of one process.
type wire struct {
	in, out *os.File // the same one where there are sockets
	sending sync.Mutex

	mu    sync.Mutex
	calls map[uint32]*call
	last  uint32

	parts   map[string]*part
	ending  bool          // the program has started to exit
	endCPU  float64       // CPU seconds that the probe took then
	endWall time.Duration // wall time
	usage   Usage         // what the program used until then, except CPU time
	heap    Heap

	greeted chan struct{} // the probe has started
	closed  chan struct{} // the reader has ended
	err     error         // why, after closed
}

// part is a collected part on its way.
type part struct {
	data    []byte
	whole   bool
	cut     bool
	missing string
}

// call is a request under way.
type call struct {
	frames chan frame
	gone   chan struct{} // its caller has left
}

func newWire(in, out *os.File) *wire {
	w := &wire{in: in, out: out, calls: map[uint32]*call{}, parts: map[string]*part{},
		greeted: make(chan struct{}), closed: make(chan struct{})}
	go w.read()
	return w
}

// read reads frames until the other end closes, and dispatches them.
func (w *wire) read() {
	defer close(w.closed)
	r := bufio.NewReaderSize(w.in, maxFrame)
	for {
		f, err := readFrame(r)
		if err != nil {
			w.err = err
			return
		}
		if f.id == 0 {
			w.event(f)
			continue
		}
		w.mu.Lock()
		c := w.calls[f.id]
		w.mu.Unlock()
		if c == nil {
			continue
		}
		select {
		case c.frames <- f:
		case <-c.gone:
		}
	}
}

// event handles frames that the probe sends without a request.
func (w *wire) event(f frame) {
	w.mu.Lock()
	defer w.mu.Unlock()
	name, rest, _ := bytes.Cut(f.payload, []byte{0})
	p := w.parts[string(name)]
	if p == nil && strings.IndexByte("PQNT", f.kind) >= 0 {
		p = &part{}
		w.parts[string(name)] = p
	}
	switch f.kind {
	case 'H':
		select {
		case <-w.greeted:
		default:
			close(w.greeted)
		}
	case 'P':
		if len(p.data)+len(rest) > maxAnswer {
			p.missing = "it is larger than 1 GiB"
			return
		}
		p.data = append(p.data, rest...)
	case 'Q':
		p.whole = true
	case 'T':
		p.cut = true
	case 'N':
		p.missing = string(rest)
	case 'B':
		w.ending = true
	case 'A':
		w.usage, w.heap = accountOf(string(f.payload))
	case 'Z':
		if cpu, wall, err := twoNumbers(string(f.payload)); err == nil {
			w.endCPU, w.endWall = float64(cpu)/1e9, time.Duration(wall)
		}
	}
}

// ask sends a request and writes its answer to dst. The note is the text at the end of the answer;
// a *Missing has no What yet.
func (w *wire) ask(ctx context.Context, dst io.Writer, words ...string) (note string, err error) {
	c := &call{frames: make(chan frame, 16), gone: make(chan struct{})}
	w.mu.Lock()
	w.last++
	id := w.last
	w.calls[id] = c
	w.mu.Unlock()
	defer func() {
		close(c.gone)
		w.mu.Lock()
		delete(w.calls, id)
		w.mu.Unlock()
	}()
	if err := w.send(frame{id: id, kind: 'R', payload: []byte(strings.Join(words, " "))}); err != nil {
		return "", err
	}
	for {
		select {
		case f := <-c.frames:
			if done, note, err := f.take(dst); done {
				return note, err
			} else if err != nil {
				w.send(frame{id: id, kind: 'R', payload: []byte("cancel")})
				return "", err
			}
		case <-ctx.Done():
			w.send(frame{id: id, kind: 'R', payload: []byte("cancel")})
			return "", ctx.Err()
		case <-w.closed:
			return w.rest(c, dst)
		}
	}
}

// rest takes what had arrived of an answer when the other end closed.
func (w *wire) rest(c *call, dst io.Writer) (string, error) {
	for {
		select {
		case f := <-c.frames:
			if done, note, err := f.take(dst); done || err != nil {
				return note, err
			}
		default:
			if w.err != nil && !errors.Is(w.err, io.EOF) && !errors.Is(w.err, io.ErrUnexpectedEOF) && !errors.Is(w.err, os.ErrDeadlineExceeded) && !errors.Is(w.err, os.ErrClosed) {
				return "", fmt.Errorf("%w: %w", ErrEnded, w.err)
			}
			return "", ErrEnded
		}
	}
}

// take handles a frame of an answer; done reports that it was the last.
func (f frame) take(dst io.Writer) (done bool, note string, err error) {
	switch f.kind {
	case 'D':
		_, err = dst.Write(f.payload)
		return false, "", err
	case 'E':
		return true, string(f.payload), nil
	case 'M':
		return true, "", &Missing{Why: string(f.payload)}
	case 'X':
		return true, "", errors.New(string(f.payload))
	}
	return true, "", fmt.Errorf("the probe answers with a frame of kind %q", f.kind)
}

// sendGrace is how long a living probe may need to take a request.
const sendGrace = 20 * time.Second

func (w *wire) send(f frame) error {
	w.sending.Lock()
	defer w.sending.Unlock()
	w.out.SetWriteDeadline(time.Now().Add(sendGrace)) // where the descriptor has deadlines
	if _, err := w.out.Write(appendFrame(nil, f)); err != nil {
		return fmt.Errorf("%w: ask the probe: %w", ErrEnded, err)
	}
	return nil
}

// drain waits until all that the exited process had sent is read. One of its children may hold the
// descriptor open, so the wait is bounded.
func (w *wire) drain(grace time.Duration) {
	w.in.SetReadDeadline(time.Now().Add(grace))
	select {
	case <-w.closed:
	case <-time.After(grace + time.Second):
	}
	w.in.Close()
	if w.out != w.in {
		w.out.Close()
	}
}

// boundedBuffer keeps an answer in memory, to maxAnswer.
type boundedBuffer struct{ bytes.Buffer }

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxAnswer {
		return 0, errors.New("the answer is larger than 1 GiB")
	}
	return b.Buffer.Write(p)
}

// parseInfo parses the probe's description of the program.
func parseInfo(text string) (Info, error) {
	head, build, _ := strings.Cut(text, "\n\n")
	info := Info{Known: true, BuildInfo: build}
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		var err error
		switch key {
		case "pid":
			info.PID, err = strconv.Atoi(value)
		case "go":
			info.Go = value
		case "goos":
			info.GOOS = value
		case "goarch":
			info.GOARCH = value
		case "gomaxprocs":
			info.GOMAXPROCS, err = strconv.Atoi(value)
		case "gogc":
			info.GOGC, err = strconv.Atoi(value)
		case "gomemlimit":
			info.GOMEMLIMIT, err = strconv.ParseInt(value, 10, 64)
		case "listening":
			info.Listening = value == "true"
		}
		if err != nil {
			return info, fmt.Errorf("the probe's %s: %w", key, err)
		}
	}
	return info, nil
}

// parseMetrics reads the probe's lines "NAME VALUE" and "NAME h COUNT P50 P99 MAX".
func parseMetrics(text string) (Metrics, error) {
	m := Metrics{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		metric, err := parseMetric(words)
		if err != nil {
			return nil, fmt.Errorf("the probe's metric %q: %w", strings.TrimSpace(line), err)
		}
		if !math.IsNaN(metric.Value) && !math.IsInf(metric.Value, 0) {
			m[words[0]] = metric
		}
	}
	return m, nil
}

func parseMetric(words []string) (Metric, error) {
	if len(words) == 2 {
		v, err := strconv.ParseFloat(words[1], 64)
		return Metric{Value: v}, err
	}
	if len(words) != 6 || words[1] != "h" {
		return Metric{}, errors.New("neither a number nor a histogram")
	}
	n, err := strconv.ParseUint(words[2], 10, 64)
	if err != nil {
		return Metric{}, err
	}
	h := &MetricHist{Count: n}
	for i, dst := range []*float64{&h.P50, &h.P99, &h.Max} {
		if *dst, err = strconv.ParseFloat(words[3+i], 64); err != nil {
			return Metric{}, err
		}
	}
	return Metric{Hist: h}, nil
}

// twoNumbers reads a note of two numbers.
func twoNumbers(note string) (a, b int64, err error) {
	if _, err = fmt.Sscan(note, &a, &b); err != nil {
		err = fmt.Errorf("the probe's answer %q: %w", note, err)
	}
	return a, b, err
}

// accountOf parses what the probe reports that the program used; it returns zero values when the
// text does not parse.
func accountOf(text string) (Usage, Heap) {
	var u Usage
	var h Heap
	var children, system, gc, busy, lock int64
	if _, err := fmt.Sscan(text, &children, &system, &u.PageFaults, &u.MaxRSS, &h.AllocBytes, &h.AllocObjects, &h.GCCycles, &gc, &busy, &lock); err != nil {
		return Usage{}, Heap{}
	}
	u.ChildCPUSeconds, u.SystemSeconds = float64(children)/1e9, float64(system)/1e9
	for seconds, ns := range map[**float64]int64{&h.GCSeconds: gc, &h.BusySeconds: busy, &h.LockSeconds: lock} {
		if s := float64(ns) / 1e9; ns >= 0 {
			*seconds = &s
		}
	}
	return u, h
}
