package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// generateTrace traces a busy service, which runs in this process, until the trace has size bytes.
// Its requests are the same in each run; their timing depends on the machine.
//
// The service has what an analysis of traces should find: a lock, an unbuffered channel to a pool
// of workers, a goroutine for each tiny piece of work, timers, garbage, one slow request in 500,
// tasks, regions, logs and CPU samples.
func generateTrace(path string, size int64) (err error) {
	const connections, pool, idle = 128, 32, 500
	s := &tracedService{cache: map[int]*tracedItem{}, jobs: make(chan tracedJob), stop: make(chan struct{})}
	defer close(s.stop)
	for range pool {
		go s.work()
	}
	for i := range idle {
		go s.tick(time.Duration(200+i) * time.Millisecond)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("make a trace: %w", err)
	}
	server := &http.Server{Handler: s}
	go server.Serve(ln)
	defer server.Close()
	for i := range connections {
		go s.ask("http://"+ln.Addr().String(), i)
	}

	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("make a trace: %w", err)
	}
	w := &fullWriter{w: bufio.NewWriterSize(f, 1<<20), left: size, full: make(chan struct{})}
	if err := errors.Join(pprof.StartCPUProfile(io.Discard), trace.Start(w)); err != nil {
		f.Close()
		return fmt.Errorf("make a trace: %w", err)
	}
	<-w.full
	trace.Stop()
	pprof.StopCPUProfile()
	if err := errors.Join(w.failed, w.w.Flush(), f.Close()); err != nil {
		return fmt.Errorf("make a trace: %w", err)
	}
	return nil
}

// fullWriter reports when enough was written, or when writing failed.
type fullWriter struct {
	w      *bufio.Writer
	left   int64
	full   chan struct{}
	failed error
}

func (f *fullWriter) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	was := f.left
	f.left -= int64(n)
	if err != nil && f.failed == nil {
		f.failed, f.left = err, 0
	}
	if was > 0 && f.left <= 0 {
		close(f.full)
	}
	return n, err
}

type tracedItem struct {
	ID   int      `json:"id"`
	Tags []string `json:"tags"`
}

type tracedJob struct {
	n    int
	done chan int
}

type tracedService struct {
	mu    sync.Mutex
	cache map[int]*tracedItem
	jobs  chan tracedJob // unbuffered, on purpose
	seq   atomic.Int64
	stop  chan struct{}
}

func (s *tracedService) work() {
	for {
		select {
		case j := <-s.jobs:
			sum := 0
			for i := range j.n {
				sum += i ^ sum<<1
			}
			j.done <- sum
		case <-s.stop:
			return
		}
	}
}

func (s *tracedService) tick(every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-s.stop:
			return
		}
	}
}

// ask is a client's connection.
func (s *tracedService) ask(url string, i int) {
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	defer client.CloseIdleConnections()
	paths := [...]string{"/list", "/get", "/put"}
	for k := i; ; k++ {
		select {
		case <-s.stop:
			return
		default:
		}
		if resp, err := client.Get(url + paths[k%len(paths)]); err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}
}

func (s *tracedService) lookup(id int64) *tracedItem {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := int(id % 1024)
	it := s.cache[key]
	if it == nil || id%50 == 0 {
		it = &tracedItem{ID: key}
		for t := range 20 { // work while the lock is held
			it.Tags = append(it.Tags, "tag-"+strconv.Itoa(t*key))
		}
		s.cache[key] = it
	}
	return it
}

// spread starts a goroutine for each tiny piece of work.
func (s *tracedService) spread(n int) int {
	var wg sync.WaitGroup
	var total atomic.Int64
	for i := range n {
		wg.Go(func() { total.Add(int64(i * i)) })
	}
	wg.Wait()
	return int(total.Load())
}

func (s *tracedService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := s.seq.Add(1)
	ctx, task := trace.NewTask(r.Context(), r.URL.Path)
	defer task.End()
	trace.Log(ctx, "request", strconv.FormatInt(n%1000, 10))
	defer trace.StartRegion(ctx, "compute").End()
	it := s.lookup(n)
	v := s.compute(ctx, n)
	if n%500 == 0 {
		time.Sleep(20 * time.Millisecond)
	} else if n%8 == 0 {
		v += s.spread(6)
	}
	json.NewEncoder(w).Encode(struct {
		*tracedItem
		V int
	}{it, v})
}

func (s *tracedService) compute(ctx context.Context, n int64) int {
	defer trace.StartRegion(ctx, "hand over").End()
	j := tracedJob{n: 200 + int(n%7)*400, done: make(chan int, 1)}
	select {
	case s.jobs <- j:
		return <-j.done
	case <-s.stop:
		return 0
	}
}
