package load_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hone-go/hone/load"
)

// targets returns GET requests of URLs.
func targets(urls ...string) []load.Target {
	var ts []load.Target
	for _, u := range urls {
		ts = append(ts, load.Target{URL: u})
	}
	return ts
}

// run runs a load until it finishes.
func run(t *testing.T, o load.Options) *load.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	g, err := load.Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	<-g.Done()
	return g.Stop()
}

// TestMain checks that no goroutine of this package remains when all tests have ended.
func TestMain(m *testing.M) {
	code := m.Run()
	if left := goroutinesLeft(); left != "" {
		fmt.Fprintf(os.Stderr, "goroutines are left over:\n%s", left)
		code = 1
	}
	os.Exit(code)
}

// goroutinesLeft returns the stacks if a goroutine of this package does not end within seconds.
func goroutinesLeft() string {
	var text string
	for range 100 {
		buf := make([]byte, 1<<20)
		text = string(buf[:runtime.Stack(buf, true)])
		if !strings.Contains(text, "hone/load.(") {
			return ""
		}
		time.Sleep(20 * time.Millisecond)
	}
	return text
}

// raw is a server for which the test writes the answer to each request's header; after an answer of
// "" it closes the connection.
func raw(t *testing.T, answer func(request string) string) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.WaitGroup
	t.Cleanup(func() {
		ln.Close()
		conns.Wait()
	})
	conns.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer c.Close()
				in := bufio.NewReader(c)
				for {
					var head strings.Builder
					for !strings.HasSuffix(head.String(), "\r\n\r\n") {
						line, err := in.ReadString('\n')
						if err != nil {
							return
						}
						head.WriteString(line)
					}
					out := answer(head.String())
					if out == "" {
						return
					}
					if _, err := c.Write([]byte(out)); err != nil {
						return
					}
				}
			})
		}
	})
	return "http://" + ln.Addr().String()
}

// staller answers immediately, except in the last part of every period: then it holds requests
// until the period ends. It keeps its own record.
type staller struct {
	start         time.Time
	period, stall time.Duration

	mu   sync.Mutex
	took []time.Duration
}

func (s *staller) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	at := time.Since(s.start)
	into := at%s.period - (s.period - s.stall)
	if into >= 0 {
		time.Sleep(s.stall - into)
	}
	fmt.Fprint(w, "ok")
	took := time.Since(s.start) - at
	s.mu.Lock()
	defer s.mu.Unlock()
	s.took = append(s.took, took)
}

// quantile returns an exact quantile of the server's own record.
func (s *staller) quantile(q float64) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.took)
	return s.took[max(1, int(q*float64(len(s.took))+0.999999))-1]
}

// server runs h on loopback until the test ends.
func server(t testing.TB, h http.Handler) *httptest.Server {
	t.Helper()
	s := quiet(h)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// quiet is a server, not started, that does not log errors that tests cause.
func quiet(h http.Handler) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	return s
}
