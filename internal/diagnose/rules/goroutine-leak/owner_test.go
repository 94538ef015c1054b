package goroutineleak

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
)

// TestOwner: the function that would end the goroutines, and the line that gets what they belong
// to.
func TestOwner(t *testing.T) {
	const program = `package main

import (
	"context"
	"sync"
)

type session struct {
	ctx    context.Context
	cancel context.CancelFunc
}

func open() *session {
	ctx, cancel := context.WithCancel(context.Background())
	s := &session{ctx: ctx, cancel: cancel}
	go s.watch()
	return s
}

func (s *session) watch() {
	<-s.ctx.Done() //@ session | 16 | (*main.session).Close cancels s.ctx, but nothing calls that on the result of s.open (main.go:33)
}

func (s *session) Close() error { s.cancel(); return nil }

type closer interface{ Close() error }

type shop struct{}

func (s *shop) open() closer { return open() }

func (s *shop) sell() {
	if c := s.open(); c != nil {
		return
	}
}

type feed struct {
	quit chan struct{}
	once sync.Once
}

func (f *feed) start() { go f.run(f.quit) }

func (f *feed) run(quit <-chan struct{}) {
	for range quit { //@ feed | 43 | (*main.feed).Stop closes f.quit, but nothing calls that on f, which starts them (main.go:56)
	}
}

func (f *feed) Stop() { f.end() }

func (f *feed) end() { f.once.Do(func() { close(f.quit) }) }

func feeds() {
	f := &feed{quit: make(chan struct{})}
	f.start()
}

type relay struct{ stop context.CancelFunc }

func (r *relay) loop(ctx context.Context) {
	<-ctx.Done() //@ relay | 69 | (*main.relay).Shutdown cancels ctx, but nothing calls that on the result of newRelay (main.go:75)
}

func newRelay() (*relay, error) {
	r := &relay{}
	var ctx context.Context
	ctx, r.stop = context.WithCancel(context.Background())
	go r.loop(ctx)
	return r, nil
}

func (r *relay) Shutdown() { r.stop() }

func relays() { newRelay() }

func plain(ctx context.Context) {
	<-ctx.Done() //@ plain | 82 | with the context ctx, but nothing cancels it
}

func plains() { go plain(context.TODO()) }

type desk struct{ lanes map[string]*lane }

type lane struct{ events chan int }

func (l *lane) run() {
	for range l.events { //@ lane | 97 | (*main.desk).drop closes l.events, which is not called for them
	}
}

func (d *desk) lane(name string) *lane {
	l := &lane{events: make(chan int)}
	d.lanes[name] = l
	go l.run()
	return l
}

func (d *desk) drop(name string) { l := d.lanes[name]; close(l.events) }

func main() { feeds(); relays(); plains(); (&shop{}).sell(); (&desk{}).lane("a") }
`
	p, names := ruletest.MadeUp(t, program)
	for _, s := range p.Table.Sites {
		_, rest, _ := strings.Cut(strings.Split(program, "\n")[s.Line-1], "//@ ")
		parts := strings.Split(rest, " | ")
		var line int
		for _, c := range parts[1] {
			line = 10*line + int(c-'0')
		}
		a := ended(p, s, &site.Frame{Function: s.Function, File: s.File, Line: line})
		if want := parts[2]; (a.cause == "") != (want == "none") || want != "none" && !strings.Contains(a.cause, want) {
			t.Errorf("%s: %q, want %q", names[s.Line], a.cause, want)
		}
	}
}

// TestSharedOwner: nobody is told to close what all requests share for the goroutines of each.
func TestSharedOwner(t *testing.T) {
	const program = `package main

type hub struct{ quit chan struct{} }

func newHub() *hub { return &hub{make(chan struct{})} }

func (h *hub) Close() { close(h.quit) }

func (h *hub) join(events chan int) {
	go func() {
		select { //@ joined
		case <-h.quit:
		case <-events:
		}
	}()
}

func start() *hub { return newHub() }

func main() { start().join(nil) }
`
	for _, c := range []struct {
		what string
		cold []string
		want bool
	}{
		{"a hub for each request", nil, true},
		{"one hub", []string{"newHub", "start", "main"}, false},
	} {
		p, _ := ruletest.MadeUp(t, program)
		p.Manifest.Load = &recording.Load{}
		p.Counts = countedOnce(program, append(c.cold, "(h *hub) Close")...)
		s := p.Table.Sites[0]
		a := ended(p, s, &site.Frame{Function: "main.(*hub).join", File: s.File, Line: 10})
		if got := strings.Contains(a.cause+a.fix, "Close"); got != c.want {
			t.Errorf("%s: %q %q", c.what, a.cause, a.fix)
		}
	}
}
