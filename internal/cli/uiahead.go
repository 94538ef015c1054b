package cli

import (
	"time"

	"github.com/hone-go/hone/internal/source"
)

// idleServer is the time without a command after which the server prepares views.
const idleServer = 200 * time.Millisecond

// prepare starts to compute what the first view by line and the first by file of a large profile
// need, while no command runs. b.mu must be held.
func (b *uiBackend) prepare() {
	if b.ahead || b.kept == nil {
		return
	}
	for _, src := range b.kept.kept {
		if src.Profile.NumSamples() > manySamples && !src.Reports.Prepared() {
			b.ahead = true
			go func() {
				src.Reports.Prepare(func() bool { return b.waitIdle(src) })
				b.mu.Lock()
				b.ahead = false
				b.mu.Unlock()
			}()
			return
		}
	}
}

// waitIdle waits until no command has run for a while. It reports false if the server stops, or if
// the source is no longer in the cache.
func (b *uiBackend) waitIdle(src *source.Source) bool {
	for {
		b.mu.Lock() // waits for the command that runs
		busy, kept := idleServer-time.Since(b.ended), false
		for _, s := range b.kept.kept {
			kept = kept || s == src
		}
		b.mu.Unlock()
		if !kept || b.kept.ctx.Err() != nil {
			return false
		}
		if busy <= 0 {
			return true
		}
		select {
		case <-time.After(busy):
		case <-b.kept.ctx.Done():
		}
	}
}
