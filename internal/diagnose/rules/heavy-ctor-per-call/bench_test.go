package heavyctorpercall

import (
	"bufio"
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"sync"
	"testing"
)

// BenchmarkReuse compares creating a value with taking it from a pool and resetting it, with a live
// heap of 12 MB for the collector: the rule's saves is the share of the cost that the pool avoids.
func BenchmarkReuse(b *testing.B) {
	var live [][]byte
	for range 200 {
		live = append(live, make([]byte, 64<<10))
	}
	for _, level := range []int{1, flate.DefaultCompression, 9} {
		b.Run(fmt.Sprintf("flate.Writer/level=%d", level), func(b *testing.B) {
			reuse(b, func() *flate.Writer {
				w, err := flate.NewWriter(io.Discard, level)
				if err != nil {
					b.Fatal(err)
				}
				return w
			}, func(w *flate.Writer) { w.Reset(io.Discard) })
		})
	}
	b.Run("flate.Reader", func(b *testing.B) {
		empty := bytes.NewReader(nil)
		reuse(b, func() flate.Resetter { return flate.NewReader(empty).(flate.Resetter) },
			func(r flate.Resetter) {
				if err := r.Reset(empty, nil); err != nil {
					b.Fatal(err)
				}
			})
	})
	b.Run("bufio.Writer", func(b *testing.B) {
		reuse(b, func() *bufio.Writer { return bufio.NewWriter(io.Discard) }, func(w *bufio.Writer) { w.Reset(io.Discard) })
	})
	if len(live) == 0 {
		b.Fatal("the live heap is gone")
	}
}

// kept makes values escape.
type kept struct{ value any }

func reuse[T any](b *testing.B, make func() T, reset func(T)) {
	var last kept
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			last.value = make()
		}
	})
	b.Run("pool", func(b *testing.B) {
		pool := sync.Pool{New: func() any { return make() }}
		for b.Loop() {
			v := pool.Get().(T)
			reset(v)
			last.value = v
			pool.Put(v)
		}
	})
}
