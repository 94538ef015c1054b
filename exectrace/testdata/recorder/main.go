// Command recorder creates the traces of older versions of Go in this directory:
//
//	GOTOOLCHAIN=go1.22.12 go run -trimpath main.go > go1.22.12.trace
//	gzip -9 go1.22.12.trace
//
// It works for a bit more than a second, so that there is more than one generation, and does
// little, so that the traces are small.
package main

import (
	"context"
	"io"
	"net"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"time"
)

func main() {
	if err := trace.Start(os.Stdout); err != nil {
		panic(err)
	}
	pprof.StartCPUProfile(io.Discard)
	var mu sync.Mutex
	for range 24 {
		var wg sync.WaitGroup
		c := make(chan int)
		for range 6 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				ctx, task := trace.NewTask(context.Background(), "work")
				defer task.End()
				trace.WithRegion(ctx, "receive", func() { <-c })
				mu.Lock()
				trace.Log(ctx, "step", "locked")
				runtime.Gosched()
				mu.Unlock()
			}()
		}
		for i := range 6 {
			c <- i
		}
		wg.Wait()
		echo()
		time.Sleep(50 * time.Millisecond)
	}
	runtime.GC()
	pprof.StopCPUProfile()
	trace.Stop()
}

// echo sends some bytes over loopback.
func echo() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			io.Copy(c, c)
			c.Close()
		}
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return
	}
	defer c.Close()
	b := make([]byte, 8)
	for range 5 {
		c.Write(b)
		io.ReadFull(c, b)
	}
}
