package requestlog

import (
	"bytes"
	_ "embed" // the source of Listener

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/histogram"
)

//go:embed listener.go
var listener []byte

// Source returns the source of Listener as a file of another package, for programs in other
// modules.
func Source(pkg string) []byte {
	return bytes.Replace(listener, []byte("package requestlog\n"), []byte("package "+pkg+"\n"), 1)
}

// Fold reads the logs. Make one with New.
type Fold struct {
	conns  map[exectrace.GIndex]*exchange
	served *histogram.Histogram
}

// exchange is a request on a connection. One goroutine logs all reads and writes of a connection.
type exchange struct{ begin, end int64 }

// New returns a fold over one trace.
func New() *Fold { return &Fold{map[exectrace.GIndex]*exchange{}, histogram.New()} }

// Events takes a block.
func (f *Fold) Events(t *exectrace.Trace, b *exectrace.Block) {
	for _, i := range b.Rare {
		e := &b.Events[i]
		if e.Kind != exectrace.Log || t.Annotation(e).Name != Category {
			continue
		}
		x := f.conns[e.G]
		switch t.Message(e) {
		case Read:
			if x != nil && x.end > 0 { // a request without a response may still be being read
				f.served.Record(x.end - x.begin)
				x = nil
			}
			if x == nil {
				f.conns[e.G] = &exchange{begin: e.Time}
			}
		case Write:
			if x != nil { // goroutines for the server's background reads never write
				x.end = e.Time
			}
		}
	}
}

// End counts the last request of each connection.
func (f *Fold) End(*exectrace.Trace) {
	for _, x := range f.conns {
		if x.end > 0 {
			f.served.Record(x.end - x.begin)
		}
	}
	clear(f.conns)
}

// Served returns the durations, in nanoseconds, of the requests that were read and answered in the
// trace.
func (f *Fold) Served() *histogram.Histogram { return f.served }
