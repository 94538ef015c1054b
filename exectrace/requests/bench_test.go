package requests

import (
	"testing"

	"github.com/hone-go/hone/exectrace"
)

// busy is a server's trace: a connection that serves requests, and four times as many events of
// unrelated goroutines.
func busy(requests int) *fake {
	f := newFake()
	g, holder := f.connection(), f.runner("main.hold")
	var others []exectrace.GIndex
	for range 16 {
		others = append(others, f.runner("main.other"))
	}
	for i := range requests {
		f.arrive(g, peek)
		f.after(5).block(g, exectrace.WaitSync, lock+" < main.(*store).get:41"+handler)
		f.after(int64(i%97)).wake(g, holder, "sync.(*Mutex).Unlock < main.(*store).put:58 < main.hold")
		f.after(20).start(g)
		f.answer(g)
		for k := range 24 {
			o := others[(i+k)%len(others)]
			f.block(o, exectrace.WaitChanReceive, "runtime.chanrecv1 < main.other:5")
			f.wake(o, holder, "runtime.chansend1 < main.hold:6")
			f.start(o)
		}
	}
	return f
}

func BenchmarkFold(b *testing.B) {
	for _, c := range []struct {
		name string
		opt  Options
	}{{"requests", Options{}}, {"paths", Options{Paths: true, PathRecords: 1 << 12}}} {
		b.Run(c.name, func(b *testing.B) {
			f := busy(2000)
			for b.Loop() {
				f.foldBy(512, c.opt)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(f.events)), "ns/event")
		})
	}
}
