package textual_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/textual"
)

type box[T any] struct{ c chan T }

func (b box[T]) wait() { <-b.c }

// This process waits in known ways; its profile and its dump are joined.
func TestJoinOfThisProcess(t *testing.T) {
	b := box[int]{make(chan int)}
	defer close(b.c)
	for range 3 {
		go b.wait()
	}
	for _, user := range []string{"u1", "u2"} {
		go pprof.Do(context.Background(), pprof.Labels("user", user), func(context.Context) {
			select {
			case <-b.c:
			case <-time.After(time.Minute):
			}
		})
	}
	var p *profile.Profile
	var dump []textual.Goroutine
	for range 100 { // until all of them wait
		time.Sleep(5 * time.Millisecond)
		p, dump = take(t)
		if strings.Count(describe(textual.Join(p, dump)), `state="chan receive"`) > 0 &&
			strings.Count(describe(textual.Join(p, dump)), `state="select"`) == 2 {
			break
		}
	}
	joined := textual.Join(p, dump)
	if a, b := p.Total(0), joined.Total(0); a != b {
		t.Errorf("%d goroutines became %d", a, b)
	}
	text := describe(joined)
	const creator = `creator="github.com/hone-go/hone/profile/textual_test.TestJoinOfThisProcess"`
	for _, want := range []string{
		`3 ` + creator + ` state="chan receive" `,
		`1 ` + creator + ` state="select" user="u1" `,
		`1 ` + creator + ` state="select" user="u2" `,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

func take(t *testing.T) (*profile.Profile, []textual.Goroutine) {
	t.Helper()
	var binary, text bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&binary, 0); err != nil {
		t.Fatal(err)
	}
	if err := pprof.Lookup("goroutine").WriteTo(&text, 2); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Decode(&binary, 0)
	if err != nil {
		t.Fatal(err)
	}
	dump, err := textual.Goroutines(&text, 0)
	if err != nil {
		t.Fatal(err)
	}
	return p, dump
}

func TestJoinDoesNotGuess(t *testing.T) {
	stack := func(names ...string) []profile.FrameSpec {
		var s []profile.FrameSpec
		for _, n := range names {
			s = append(s, profile.FrameSpec{Function: n, Line: 1})
		}
		return s
	}
	wait := func(state, creator string, minutes int64, s ...string) textual.Goroutine {
		return textual.Goroutine{State: state, Creator: creator, WaitMinutes: minutes, Stack: stack(s...)}
	}
	b := profile.NewBuilder(profile.ValueType{Type: "goroutine", Unit: "count"})
	b.Add(stack("runtime.gopark", "main.one[go.shape.map[int]string].f"), 3)
	b.AddLabeled(stack("main.two"), []profile.Label{{Key: "user", Str: "u1"}}, 1)
	b.AddLabeled(stack("main.two"), []profile.Label{{Key: "user", Str: "u2"}}, 2)
	b.Add(stack("main.gone"), 1)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	joined := textual.Join(p, []textual.Goroutine{
		wait("select", "main.main", 0, "main.one[...].f"),
		wait("running", "main.main", 0, "main.one[...].f"),
		wait("select", "main.main", 5, "main.two"), // its user is unknown
		wait("select", "main.main", 0, "main.two"),
		wait("select", "main.other", 0, "main.new"),
	})
	var got []string
	for _, line := range strings.Split(describe(joined), "\n") {
		if line != "" && line[0] >= '0' && line[0] <= '9' {
			got = append(got, strings.TrimSpace(line))
		}
	}
	want := []string{
		`1 creator="main.main" state="select"`, `1 creator="main.main" state="running"`, "1",
		`1 creator="main.main" state="select" user="u1"`,
		`1 creator="main.main" state="select" user="u2"`, `1 user="u2"`,
		"1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// bigDump has n goroutines with many waiting times at few places.
func bigDump(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "goroutine %d [chan receive, %d minutes]:\n", i+1, i%5000+1)
		fmt.Fprintf(&b, "main.wait(0x%x)\n\t/src/wait.go:%d +0x1d\nmain.serve(...)\n\t/src/serve.go:8\n", i, i%20)
		b.WriteString("created by main.main in goroutine 1\n\t/src/main.go:7 +0x55\n\n")
	}
	return b.String()
}

func BenchmarkDump(b *testing.B) {
	text := bigDump(20_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := textual.Decode(strings.NewReader(text), 0); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJoin(b *testing.B) {
	text := bigDump(20_000)
	p, err := textual.Decode(strings.NewReader(text), 0)
	if err != nil {
		b.Fatal(err)
	}
	dump, err := textual.Goroutines(strings.NewReader(text), 0)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		textual.Join(p, dump)
	}
}
