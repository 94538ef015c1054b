package target

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/covdata"
	"github.com/hone-go/hone/internal/live"
)

// executions sums, by function, how often its first block ran.
func executions(t *testing.T, meta, counters []byte) map[string]uint64 {
	t.Helper()
	m, err := covdata.ReadMeta(meta)
	if err != nil {
		t.Fatal(err)
	}
	counts, err := m.ReadCounters(counters, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]uint64{}
	for i, p := range m.Packages {
		for j, f := range p.Funcs {
			if counts[i][j] != nil {
				out[p.Path+"."+f.Name] += counts[i][j][0]
			}
		}
	}
	return out
}

// counted builds a program that calls strings.Repeat and a package of its own.
func counted(t *testing.T, bench bool, main string) *Binary {
	t.Helper()
	dir := tree(t, "-- go.mod --\nmodule example.com/app\n\ngo 1.23\n-- part/part.go --\npackage part\n\nfunc Twice(n int) int { return 2 * n }\n"+main)
	return mustBuild(t, BuildSpec{Package: ".", Dir: dir, Bench: bench, Counted: []string{"example.com/app/...", "strings"}})
}

// TestCountsExecutions counts a program that exits, in its main package, in another and in the
// standard library.
func TestCountsExecutions(t *testing.T) {
	t.Parallel()
	b := counted(t, false, `-- main.go --
package main

import (
	"strings"

	"example.com/app/part"
)

func main() {
	for i := 0; i < 7; i++ {
		work(i)
	}
}

func work(i int) string { return strings.Repeat("ab", part.Twice(i)) }
`)
	stderr := filepath.Join(t.TempDir(), "stderr")
	p := mustStart(t, b, RunSpec{Collect: Collect{Counters: true}, Stderr: stderr})
	if e := finish(t, p); e.Failure() != "" {
		t.Fatal(e.Failure())
	}
	if text, err := os.ReadFile(stderr); err != nil || len(text) > 0 {
		t.Errorf("it says %q, %v", text, err)
	}
	parts, missing := p.Parts()
	if len(missing) > 0 {
		t.Fatal(missing)
	}
	got := executions(t, parts["counters.meta"], parts["counters"])
	for name, want := range map[string]uint64{
		"example.com/app.main": 1, "example.com/app.work": 7, "example.com/app/part.Twice": 7, "strings.Repeat": 7,
	} {
		if got[name] != want {
			t.Errorf("%s ran %d times, want %d", name, got[name], want)
		}
	}
}

// TestCountsWithoutMain counts a program whose package main is not among the packages to count, as
// that of a service which only starts what other packages do.
func TestCountsWithoutMain(t *testing.T) {
	t.Parallel()
	dir := tree(t, `-- go.mod --
module example.com/thin

go 1.23
-- part/part.go --
package part

func Twice(n int) int { return 2 * n }
-- main.go --
package main

import "example.com/thin/part"

func main() { println(part.Twice(part.Twice(3))) }
`)
	b := mustBuild(t, BuildSpec{Package: ".", Dir: dir, Counted: []string{"example.com/thin/part"}})
	p := mustStart(t, b, RunSpec{Collect: Collect{Counters: true}})
	if e := finish(t, p); e.Failure() != "" {
		t.Fatal(e.Failure())
	}
	parts, missing := p.Parts()
	if len(missing) > 0 {
		t.Fatal(missing)
	}
	if got := executions(t, parts["counters.meta"], parts["counters"])["example.com/thin/part.Twice"]; got != 2 {
		t.Errorf("Twice ran %d times, want 2", got)
	}
}

// TestCountersWhileItRuns reads and clears the counters of a program that waits for its input.
func TestCountersWhileItRuns(t *testing.T) {
	t.Parallel() // it mostly waits
	b := counted(t, false, `-- main.go --
package main

import (
	"os"
	"time"
)

func main() {
	for i := 0; i < 5; i++ {
		step()
	}
	os.WriteFile(os.Args[1], nil, 0o600)
	time.Sleep(time.Minute)
}

func step() {}
`)
	ready := filepath.Join(t.TempDir(), "ready")
	p := mustStart(t, b, RunSpec{Args: []string{ready}})
	ctx := context.Background()
	defer p.Stop(ctx)
	for ctx := soon(t); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(ready); err == nil {
			break
		}
		if ctx.Err() != nil {
			t.Fatal("the program did not get ready")
		}
	}
	meta, err := p.CountersMeta(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []uint64{5, 0} {
		data, err := p.Counters(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if got := executions(t, meta, data)["example.com/app.step"]; got != want {
			t.Errorf("step ran %d times, want %d", got, want)
		}
		if err := p.ClearCounters(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCountsBenchmarks counts in a test binary.
func TestCountsBenchmarks(t *testing.T) {
	live.Only(t)
	b := counted(t, true, `-- app_test.go --
package app

import (
	"testing"

	"example.com/app/part"
)

func BenchmarkTwice(b *testing.B) {
	for i := 0; i < b.N; i++ {
		part.Twice(i)
	}
}
-- app.go --
package app
`)
	p := mustStart(t, b, RunSpec{Args: []string{"-test.run=^$", "-test.bench=.", "-test.benchtime=10x"}, Collect: Collect{Counters: true}})
	if e := finish(t, p); e.Failure() != "" {
		t.Fatal(e.Failure())
	}
	parts, missing := p.Parts()
	if len(missing) > 0 {
		t.Fatal(missing)
	}
	// The testing package runs the function once before it runs it ten times.
	if got := executions(t, parts["counters.meta"], parts["counters"])["example.com/app/part.Twice"]; got != 11 {
		t.Errorf("Twice ran %d times, want 11", got)
	}
}

// TestNoCountersWithoutInstrumentation: the error for missing counters is a *Missing.
func TestNoCountersWithoutInstrumentation(t *testing.T) {
	t.Parallel() // it mostly waits
	b := mustBuild(t, BuildSpec{Package: ".", Dir: tree(t, "-- go.mod --\nmodule example.com/app\n\ngo 1.23\n-- main.go --\npackage main\n\nimport \"time\"\n\nfunc main() { time.Sleep(time.Minute) }\n")})
	p := mustStart(t, b, RunSpec{})
	defer p.Stop(context.Background())
	var missing *Missing
	if _, err := p.Counters(context.Background()); !errors.As(err, &missing) {
		t.Errorf("the error is %v, want a *Missing", err)
	}
}
