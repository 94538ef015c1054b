package target

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/live"
)

// served calls weigh twice in each request of a server built like fasthttp (contexts are reused),
// in each RPC of one built like gRPC, and in each iteration of loops that take work.
const served = `-- go.mod --
module example.com/app

go 1.23

require (
	github.com/valyala/fasthttp v0.0.0
	google.golang.org/grpc v0.0.0
)

replace (
	github.com/valyala/fasthttp => ./fasthttp
	google.golang.org/grpc => ./grpc
)
-- fasthttp/go.mod --
module github.com/valyala/fasthttp

go 1.23
-- fasthttp/server.go --
package fasthttp

type RequestCtx struct {
	connID, connRequestNum uint64
	Body                   string
}

func Serve(handle func(*RequestCtx), n int) {
	var ctx RequestCtx
	for i := 0; i < n; i++ {
		ctx.connID, ctx.connRequestNum = 7, uint64(i)+1
		handle(&ctx)
	}
}
-- grpc/go.mod --
module google.golang.org/grpc

go 1.23
-- grpc/internal/transport/stream.go --
package transport

type Stream struct {
	method string
	id     uint32
}

type ServerStream struct{ Stream }

func (s *ServerStream) Set(id uint32) { s.id = id }
-- grpc/server.go --
package grpc

import "google.golang.org/grpc/internal/transport"

func Serve(handle func(), n int) {
	var s transport.ServerStream
	for i := 0; i < n; i++ {
		s.Set(uint32(i))
		handleStream(&s, handle)
	}
}

func handleStream(s *transport.ServerStream, handle func()) { handle() }
-- main.go --
package main

import (
	"os"

	"github.com/valyala/fasthttp"
	"google.golang.org/grpc"
)

var sink int

func weigh(text string) {
	sink += len(text)
}

func handle(ctx *fasthttp.RequestCtx) {
	weigh("x")
	weigh("x")
	ranged(make(chan string)) // of the request, not a unit of its own
}

func ranged(jobs chan string) {
	select {
	case <-jobs:
	default:
		close(jobs)
	}
	for range jobs {
	}
}

func consume(jobs <-chan string) {
	for job := range jobs {
		weigh(job)
		weigh(job)
	}
}

func poll(jobs chan string) {
	for {
		select {
		case job := <-jobs:
			weigh(job)
			weigh(job)
		default:
			return
		}
	}
}

func main() {
	done := make(chan bool)
	go func() {
		switch os.Args[1] {
		case "fasthttp":
			fasthttp.Serve(handle, 50)
		case "grpc":
			grpc.Serve(func() { weigh("x"); weigh("x") }, 50)
		default:
			jobs := make(chan string, 50)
			for i := 0; i < 50; i++ {
				jobs <- "x"
			}
			if os.Args[1] == "poll" {
				poll(jobs)
			} else {
				close(jobs)
				consume(jobs)
			}
		}
		done <- true
	}()
	<-done
}
`

// TestUnits distinguishes requests of fasthttp and gRPC, and iterations of plain consumers.
func TestUnits(t *testing.T) {
	live.Only(t)
	dir := tree(t, served)
	main, server := filepath.Join(dir, "main.go"), filepath.Join(dir, "grpc", "server.go")
	var funcs []Func
	for _, name := range []string{"weigh", "handle", "ranged", "consume", "poll"} {
		funcs = append(funcs, Func{Name: "main." + name, Package: "example.com/app", File: main, Line: lineOf(t, main, "func "+name+"(")})
	}
	funcs = append(funcs, Func{Name: "google.golang.org/grpc.handleStream", Package: "google.golang.org/grpc", File: server, Line: lineOf(t, server, "func handleStream(")})
	b := mustBuild(t, BuildSpec{Package: ".", Dir: dir, Inputs: funcs})
	for _, c := range []struct{ arg, head string }{
		{"fasthttp", "requests 50 0 0"}, {"grpc", "requests 50 0 0"}, {"range", "requests 0 0 50"}, {"poll", "requests 0 0 51"},
	} {
		p := mustStart(t, b, RunSpec{Args: []string{c.arg}, Collect: Collect{Inputs: true}})
		finish(t, p)
		parts, _ := p.Parts()
		lines := strings.Split(string(parts[PartInputs]), "\n")
		if lines[0] != c.head {
			t.Errorf("%s: %s, want %s", c.arg, lines[0], c.head)
		}
		for _, line := range lines[1:] {
			var id, calls, hashed, different, identical, inUnits, inEach int
			if n, _ := fmt.Sscan(line, &id, &calls, &hashed, &different, &identical, &inUnits, &inEach); n == 7 && b.Watched[id].Name == "main.weigh" {
				if calls != 100 || different != 1 || inUnits != 100 || inEach != 50 {
					t.Errorf("%s: weigh: %s", c.arg, line)
				}
			}
		}
	}
}
