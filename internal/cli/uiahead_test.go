package cli

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/source"
)

// TestWaitIdle: views are prepared only while no command runs, and only of sources in the cache.
func TestWaitIdle(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	src := &source.Source{}
	b := &uiBackend{kept: &keptSources{ctx: ctx, kept: map[string]*source.Source{"p": src}}, ended: time.Now()}
	var running atomic.Bool
	running.Store(true)
	b.mu.Lock() // a command runs
	idle := make(chan bool)
	go func() {
		idle <- b.waitIdle(src) && !running.Load()
	}()
	time.Sleep(2 * idleServer)
	running.Store(false)
	b.ended = time.Now()
	b.mu.Unlock()
	if !<-idle {
		t.Error("it did not wait for the command, or gave up")
	}
	if b.waitIdle(&source.Source{}) {
		t.Error("it goes on for a source that is not in the cache")
	}
	stop()
	if b.waitIdle(src) {
		t.Error("it goes on after the server stopped")
	}
}
