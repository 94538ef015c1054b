package wall

import (
	"testing"

	"github.com/hone-go/hone/exectrace"
)

// TestKeysAreIntervals: nothing of an interval is lost in the two words of its key, at its largest either.
func TestKeysAreIntervals(t *testing.T) {
	const most = ^exectrace.StackID(0)
	for _, want := range []interval{
		{},
		{entry: 1, left: 2, wake: 3, what: inSyscall, why: exectrace.ReasonOther},
		{entry: most, left: 7, what: sweeping},
		{left: most, what: blocked, why: ^exectrace.Reason(0)},
		{wake: most, what: runnable, why: exectrace.Woken, open: true},
	} {
		k := keyOf(want.entry, want.left, want.wake, want.what, want.why)
		if want.open {
			k.how |= openBit
		}
		if got := k.interval(); got != want {
			t.Errorf("%+v became %+v", want, got)
		}
		want.entry = 9
		if got := k.from(9).interval(); got != want {
			t.Errorf("from another stack %+v became %+v", want, got)
		}
	}
}
