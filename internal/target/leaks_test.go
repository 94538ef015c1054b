package target

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/profile"
)

// leaky starts 50 goroutines that nothing can wake, and 20 that wait on a channel in a global map.
const leaky = `-- go.mod --
module example.com/leaky

go 1.24
-- leaky.go --
package main

import (
	"os"
	"time"
)

var reachable = map[int]chan int{}

func leak() {
	answer := make(chan int)
	go func() { answer <- 1 }()
}

func wait(n int) {
	c := make(chan int)
	reachable[n] = c
	go func() { <-c }()
}

func start() {
	for n := range 50 {
		leak()
		if n < 20 {
			wait(n)
		}
	}
	time.Sleep(50 * time.Millisecond)
}

func main() {
	start()
	if len(os.Args) > 1 {
		time.Sleep(time.Minute)
	}
}
-- leaky_test.go --
package main

import "testing"

func BenchmarkLeak(b *testing.B) {
	for range b.N {
		leak()
	}
}
`

// leaksIn counts the goroutines of a profile by the function that they started with.
func leaksIn(t *testing.T, data []byte) map[string]int64 {
	t.Helper()
	p, err := profile.Decode(strings.NewReader(string(data)), 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for i, n := range p.Values(0) {
		stack := p.Stack(i)
		lines := p.Locations[stack[len(stack)-1]].Lines
		out[p.Functions[lines[len(lines)-1].Func].Name] += n
	}
	return out
}

// TestLeaks: the collector names 50 of 50 goroutines that nothing can wake, and none of 20 that
// something reachable could wake.
func TestLeaks(t *testing.T) {
	live.Only(t)
	dir := tree(t, leaky)
	t.Run("asked", func(t *testing.T) {
		b := mustBuild(t, BuildSpec{Dir: dir, Leaks: true})
		p := mustStart(t, b, RunSpec{Args: []string{"stay"}})
		var got map[string]int64
		for range 200 { // until the program has started all
			data, err := p.Profile(soon(t), "goroutineleak", 0, false)
			if err != nil {
				t.Fatal(err)
			}
			if got = leaksIn(t, data); got["main.leak.func1"] >= 50 {
				break
			}
		}
		if len(got) != 1 || got["main.leak.func1"] != 50 {
			t.Errorf("%v", got)
		}
	})
	t.Run("at the end", func(t *testing.T) {
		b := mustBuild(t, BuildSpec{Dir: dir, Leaks: true})
		p := mustStart(t, b, RunSpec{Collect: Collect{Leaks: true}})
		finish(t, p)
		parts, missing := p.Parts()
		if got := leaksIn(t, parts[PartLeaks]); len(missing) > 0 || got["main.leak.func1"] != 50 || got["main.wait.func1"] != 0 {
			t.Errorf("%v, missing %v", got, missing)
		}
		if !strings.Contains(string(parts[PartDump]), "created by main.leak in goroutine 1") {
			t.Error("the dump does not say where they were created")
		}
	})
	t.Run("plain", func(t *testing.T) {
		b := mustBuild(t, BuildSpec{Dir: dir})
		if atLeast(b.Go, "go1.27") {
			t.Skip("its runtime always has the profile")
		}
		p := mustStart(t, b, RunSpec{Args: []string{"stay"}})
		if _, err := p.Profile(soon(t), "goroutineleak", 0, false); err == nil {
			t.Error("a program without the experiment has the profile")
		}
	})
}

func TestLeaksExperiment(t *testing.T) {
	for _, c := range []struct {
		env  goEnv
		want string
		ok   bool
	}{
		{goEnv{GOVERSION: "go1.25.3"}, "", false},
		{goEnv{GOVERSION: "go1.26.8"}, "GOEXPERIMENT=goroutineleakprofile", true},
		{goEnv{GOVERSION: "go1.26.8", GOEXPERIMENT: "jsonv2"}, "GOEXPERIMENT=jsonv2,goroutineleakprofile", true},
		{goEnv{GOVERSION: "go1.27.0"}, "", true},
	} {
		got, err := c.env.leaksExperiment()
		if strings.Join(got, " ") != c.want || (err == nil) != c.ok {
			t.Errorf("%+v: %v, %v", c.env, got, err)
		}
	}
}
