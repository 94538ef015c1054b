package goroutineleak

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/covdata"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
)

// TestOpened: the line of the program that opens a stream with a context that never ends, through
// open, which gets the context. Library is the code of a dependency.
func TestOpened(t *testing.T) {
	const program = `package main

import (
	"context"
	"net/http"
	"time"
)

type conn struct{ ctx context.Context }

type stream struct{ ctx context.Context }

func (c *conn) NewStream(ctx context.Context, name string) *stream {
	s := &stream{ctx}
	go func() {
		select { //@ both
		case <-c.ctx.Done():
		case <-ctx.Done():
		}
	}()
	go func() {
		<-c.ctx.Done() //@ owner
	}()
	go s.watch()
	return s
}

func (s *stream) watch() {
	<-s.ctx.Done() //@ own
}

func dial() *conn { return &conn{context.Background()} }

type client struct {
	conn *conn
	base context.Context
}

type key struct{}

func (c *client) open(ctx context.Context, n int) *stream {
	return c.conn.NewStream(ctx, "a") //@ open
}

func (c *client) background() {
	c.open(context.Background(), 1) //@ find never ends
}

func (c *client) value() {
	ctx := context.WithValue(context.TODO(), key{}, 1)
	c.open(ctx, 1) //@ find never ends
}

func (c *client) detached(r *http.Request) {
	c.open(context.WithoutCancel(r.Context()), 1) //@ find never ends
}

func (c *client) dropped(r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	_ = cancel
	c.open(ctx, 1) //@ find whose cancel function nothing calls
}

func (c *client) lasting() {
	c.open(c.base, 1) //@ find lives much longer
}

func (c *client) cancelled() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c.open(ctx, 1) //@ find none
}

func (c *client) limited() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	time.AfterFunc(time.Second, cancel)
	c.open(ctx, 1) //@ find none
}

func (c *client) request(r *http.Request) {
	c.open(r.Context(), 1) //@ find none
}

func (c *client) kept(list *[]func()) {
	ctx, cancel := context.WithCancel(context.Background())
	*list = append(*list, cancel)
	c.open(ctx, 1) //@ find none
}

func main() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	_ = &client{dial(), ctx}
}
`
	p, names := ruletest.MadeUp(t, program)
	p.Manifest.Load = &recording.Load{}
	p.Counts = countedOnce(program, "main", "dial")
	lines := map[string]*site.Frame{}
	var finds []*site.Frame
	for _, s := range p.Table.Sites {
		name := names[s.Line]
		lines[name] = &s.Frame
		if strings.HasPrefix(name, "find") {
			finds = append(finds, &s.Frame)
		}
	}
	library := &site.Frame{Function: "main.(*conn).NewStream", Owner: gocode.Owner{Kind: gocode.Dependency}}
	waits := func(at string) *site.Parked {
		g := &site.Parked{Frame: *lines[at], Created: site.Creation{Function: library.Function, Line: 1}}
		g.Start.Owner.Kind = gocode.Dependency
		return g
	}
	for _, find := range finds {
		p.Table = &site.Table{Sites: []*site.Site{{Allocs: []*site.Row{{Stack: []*site.Frame{library, lines["open"], find}}}}}}
		want := strings.TrimPrefix(names[find.Line], "find ")
		for _, at := range []string{"both", "own", "owner"} {
			g := waits(at)
			o := opened(p, g, p.Place(p.Site(&g.Frame)))
			if o == nil {
				if want != "none" && at != "owner" {
					t.Errorf("%s, %s: not found", find.Function, at)
				}
				continue
			}
			cause, fix := o.advice()
			if want == "none" || at == "owner" || o.frame != find || !strings.Contains(cause, want) || !strings.Contains(fix, "Leave c.conn open") {
				t.Errorf("%s, %s: %s %s", find.Function, at, cause, fix)
			}
		}
	}
}

// countedOnce makes up counts: each line runs once per unit of work, those of some functions never.
func countedOnce(program string, cold ...string) *counts.Index {
	meta := &covdata.Meta{Packages: []covdata.Package{{Path: "example.com/madeup"}}}
	var all [][]uint64
	start := 0
	for i, line := range strings.Split(program, "\n") {
		if strings.HasPrefix(line, "func ") {
			start = i + 1
		}
		if start == 0 || line != "}" && !(start == i+1 && strings.HasSuffix(line, "}")) {
			continue
		}
		n := uint64(100)
		for _, name := range cold {
			if strings.Contains(strings.Split(program, "\n")[start-1], "func "+name) {
				n = 1
			}
		}
		meta.Packages[0].Funcs = append(meta.Packages[0].Funcs, covdata.Func{
			Name: "f", File: "example.com/madeup/main.go",
			Blocks: []covdata.Block{{StartLine: start, StartColumn: 1, EndLine: i + 1, EndColumn: 100}},
		})
		all = append(all, []uint64{n})
		start = 0
	}
	return counts.New(meta, []counts.Window{{Units: 100, Counts: covdata.Counts{all}}})
}
