package requests

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hone-go/hone/exectrace"
)

// waitList is a slow model of the waits of a request: it adds each to the one of its kind
// immediately.
type waitList struct {
	list []wait
	late []wait // after the response was written
	done bool
}

func addWait(list []wait, w wait, limit int) []wait {
	i := slices.IndexFunc(list, w.like)
	if i < 0 && len(list) >= limit && (w.waiter != 0 || w.waker != 0) {
		w.waiter, w.waker = 0, 0
		i = slices.IndexFunc(list, w.like)
	}
	if i < 0 {
		return append(list, w)
	}
	list[i].n += w.n
	list[i].ns += w.ns
	return list
}

func (m *waitList) wait(w wait) {
	if m.done {
		m.late = addWait(m.late, w, maxWaits)
	} else {
		m.list = addWait(m.list, w, maxWaits)
	}
}

func (m *waitList) resume() {
	for _, w := range m.late {
		m.list = addWait(m.list, w, 1<<30)
	}
	m.late, m.done = nil, false
}

func TestWaitsAreMergedLateAndStillTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		l, m := live{phase: handling, begun: true}, waitList{}
		kinds, n := 1+rng.IntN(60), rng.IntN(300)
		for range n {
			switch k := rng.IntN(20); {
			case k == 0 && !m.done:
				l.pause(0)
				m.done = true
			case k < 3 && m.done:
				l.resume()
				m.resume()
			default:
				w := wait{part: WaitSync + Part(rng.IntN(2)), n: 1, waiter: exectrace.StackID(rng.IntN(kinds)), waker: exectrace.StackID(rng.IntN(2)), ns: rng.Int64N(9)}
				l.wait(w.part, w.busy, w.waiter, w.waker, w.ns)
				m.wait(w)
			}
		}
		l.merge()
		if want := slices.Concat(m.list, m.late); !slices.Equal(l.waits, want) || m.done && l.kept != len(m.list) {
			t.Fatalf("%d waits of %d kinds (%d of them kept) are\n%v\nwant\n%v", n, kinds, l.kept, l.waits, want)
		}
	}
}
