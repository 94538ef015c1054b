package rules_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	stackgrowth "github.com/hone-go/hone/internal/diagnose/rules/stack-growth"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const frames = `package main

//go:noinline
func small(b *[8 << 10]byte) byte {
	return b[3] //@ small
}

//go:noinline
func escapes(c chan *[8 << 10]byte) byte {
	var b [8 << 10]byte
	c <- &b
	return small(&b) //@ escapes
}

//go:noinline
func literal() func() byte {
	return func() byte {
		var b [8 << 10]byte
		return small(&b)
	} //@ literal
}

//go:noinline
func large() byte {
	var buf [8 << 10]byte
	return small(&buf) //@ large
}

func main() { large(); literal()(); escapes(nil) }
`

// compiled is what the compiler decided about frames.
const compiled = `package example.com/madeup
example.com/madeup/main.go:10:6 escape: moved to heap: b
example.com/madeup/main.go:17:9 escape: func literal escapes to heap
`

// TestStackGrowthGoroutines: the place where a goroutine is started decides what can be fixed.
func TestStackGrowthGoroutines(t *testing.T) {
	const (
		conn    = "net/http.(*conn).serve"
		wrapped = "golang.org/x/sync/errgroup.(*Group).Go.func1"
		stream  = "google.golang.org/grpc.(*Server).serveStreams.func2.1"
	)
	for _, c := range []struct {
		line, entry string
		want        rule.Confidence
		words       string
	}{
		{"small", conn, "", ""}, // nothing can be fixed
		{"escapes", conn, "", ""},
		{"literal", conn, "", ""},
		{"large", conn, rule.Likely, "Make buf smaller"},
		{"small", wrapped, rule.Likely, "Keep these goroutines"}, // of the program
		{"small", "main.work", rule.Likely, "make large local arrays smaller"},
		{"large", "main.work", rule.Likely, "make the 8.0 KiB of buf in large smaller"},
		{"small", stream, rule.Hint, "grpc.NumStreamWorkers"},
		{"large", stream, rule.Likely, "Make buf smaller"},
	} {
		p, names := ruletest.MadeUp(t, frames)
		var err error
		if p.Facts, err = p.Code.ReadFacts(strings.NewReader(compiled)); err != nil {
			t.Fatal(err)
		}
		p.Table.Totals.TotalSeconds = 50 // each line has one: 2 %
		for _, s := range p.Table.Sites {
			if names[s.Line] == c.line {
				grow(s, c.entry)
			}
		}
		p.Table.Sites[0].CPU = append(p.Table.Sites[0].CPU, &site.Row{Value: 1e9}) // without a stack
		matches, err := stackgrowth.Rule().Find(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case c.want == "" && len(matches) == 0:
		case c.want == "" || len(matches) != 1:
			t.Errorf("%s on %s: %d matches: %+v", c.line, c.entry, len(matches), matches)
		case matches[0].Confidence != c.want || !strings.Contains(matches[0].Fix, c.words):
			t.Errorf("%s on %s: [%s] %s %s", c.line, c.entry, matches[0].Confidence, matches[0].Cause, matches[0].Fix)
		}
	}
}

// grow adds the growth of a stack below a site's CPU, in a goroutine that starts in entry.
func grow(s *site.Site, entry string) {
	std := func(name string) *site.Frame {
		return &site.Frame{Function: name, Owner: gocode.Owner{Kind: gocode.Std}}
	}
	above := []*site.Frame{std(entry), std("runtime.goexit")}
	switch {
	case strings.HasPrefix(entry, "main."):
		above[0].Owner = s.Owner
	case strings.HasPrefix(entry, "golang.org/"):
		above[0].Owner.Kind = gocode.Dependency
		above = append([]*site.Frame{{Function: "main.work", Owner: s.Owner}}, above...)
	case strings.HasPrefix(entry, "google.golang.org/"):
		above[0].Owner.Kind = gocode.Dependency
	}
	r := s.CPU[0]
	r.Stack = append([]*site.Frame{std("runtime.memmove"), std("runtime.copystack"), std("runtime.newstack")}, r.Stack...)
	r.Stack = append(r.Stack, above...)
	r.Owner += 3
}
