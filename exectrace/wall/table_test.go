package wall

import (
	"testing"

	"github.com/hone-go/hone/exectrace"
)

// TestKeysKeepAll: the two words of an interval's key lose nothing, not even at the largest values.
func TestKeysKeepAll(t *testing.T) {
	type interval struct {
		entry, left, wake exectrace.StackID
		what              what
		why               exectrace.Reason
		open              bool
	}
	of := func(k key) interval {
		return interval{k.entry(), k.left(), k.wake(), k.what(), k.why(), k.open()}
	}
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
		if got := of(k); got != want {
			t.Errorf("%+v became %+v", want, got)
		}
		want.entry = 9
		if got := of(k.from(9)); got != want {
			t.Errorf("from another stack %+v became %+v", want, got)
		}
	}
}
