package exectrace_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/internal/tracetext"
)

// atMost is a fold that takes a limited number of events.
type atMost struct{ want, seen, ended int }

func (f *atMost) Events(_ *exectrace.Trace, b *exectrace.Block) { f.seen += len(b.Events) }
func (f *atMost) End(*exectrace.Trace)                          { f.ended++ }
func (f *atMost) Done() bool                                    { return f.seen >= f.want }

// all is a fold that takes all events.
type all struct{ seen int }

func (f *all) Events(_ *exectrace.Trace, b *exectrace.Block) { f.seen += len(b.Events) }
func (f *all) End(*exectrace.Trace)                          {}

// TestStopper reads a trace of three generations: 4 events, 2, and 1 before the error.
func TestStopper(t *testing.T) {
	data, err := tracetext.Assemble(`trace 26
generation 1
thread 1 time=100
ProcStatus p=0 pstatus=1
GoStatus g=1 m=1 gstatus=2
GoStop dt=10
generation 2
thread 1 time=200
ProcStatus p=0 pstatus=1
generation 3
thread 1 time=300
ProcStatus p=0 pstatus=0
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name        string
		wants       []int
		other       bool // with a fold that is not a Stopper beside them
		seen        int
		generations int
		broken      bool
	}{
		{"in the first", []int{1}, false, 4, 1, false},
		{"in the second", []int{5}, false, 6, 2, false},
		{"never", []int{100}, false, 7, 3, true},
		{"not before both", []int{1, 5}, false, 6, 2, false},
		{"not before a fold that wants all", []int{1}, true, 7, 3, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var folds []exectrace.Fold
			var ours []*atMost
			for _, n := range c.wants {
				f := &atMost{want: n}
				ours, folds = append(ours, f), append(folds, f)
			}
			if c.other {
				folds = append(folds, &all{})
			}
			tr, err := exectrace.Read(context.Background(), bytes.NewReader(data), exectrace.Options{}, folds...)
			if tr == nil || (err != nil) != c.broken {
				t.Fatalf("Read: %v, %v, want an error: %t", tr, err, c.broken)
			}
			info := tr.Info()
			if info.Generations != c.generations || info.Events != int64(c.seen) {
				t.Errorf("%d generations, %d events, want %d and %d", info.Generations, info.Events, c.generations, c.seen)
			}
			for _, f := range ours {
				if f.seen != c.seen || f.ended != 1 {
					t.Errorf("a fold that wants %d events saw %d and was ended %d times, want %d and once", f.want, f.seen, f.ended, c.seen)
				}
			}
			if whole := int64(len(data)); info.Bytes > whole || (info.Bytes == whole) != (c.generations == 3) {
				t.Errorf("%d bytes of %d were read", info.Bytes, whole)
			}
		})
	}
}
