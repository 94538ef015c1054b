package wall

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace"
)

// Lock is probably one lock: the lines that wait for it and the lines that unlock it. Traces do not
// identify locks, so lines belong together if one woke the other. Two locks of one type that the
// same lines use count as one.
type Lock struct {
	Kind string `json:"kind"` // mutex, rwmutex, waitgroup, cond, once, semaphore
	// Waiters are the lines that waited, longest first. Holders are the lines whose unlock ended
	// the waits, by the time that goroutines waited while they held the lock.
	Waiters []Waker `json:"waiters"`
	Holders []Waker `json:"holders"`
	Seconds float64 `json:"seconds"` // total time waited
	Count   int64   `json:"count"`
	// Queue is the mean number of waiters over the trace; Longest is the maximum.
	Queue   float64 `json:"mean_queue"`
	Longest int     `json:"longest_queue"`
	// Busy is the share of the trace's time with a waiter at the line that waited most, and Crowded
	// the share with two or more.
	Busy    float64 `json:"busy_share"`
	Crowded float64 `json:"crowded_share"`
	// Hold is the mean time, in seconds, between two wake-ups while a goroutine waits: how long a
	// holder keeps the lock, including the hand-over.
	Hold float64 `json:"mean_hold_seconds"`
	// Convoy says that goroutines queue for the lock most of the time. If two or more wait for a
	// fifth of the trace, the lock passes from one waiter to the next, and every pass costs a
	// switch.
	Convoy bool `json:"convoy,omitempty"`
}

// Thresholds of a convoy: fewer waits are not significant, and a queue that is crowded for less of
// the time is a burst.
const (
	convoyWaits = 50
	convoyShare = 0.2
)

// locks clusters the waits for sync by waiter and waker.
func (f *Fold) locks(byPair map[pairKey]*waitSum) []Lock {
	set := union{}
	for k := range byPair {
		if isLock(k.object) && k.wake >= 0 {
			set.join(lockNode{k.line, false, k.object}, lockNode{k.wake, true, k.object})
		}
	}
	clusters := map[lockNode]*lockSum{}
	for k, s := range byPair {
		if !isLock(k.object) {
			continue
		}
		root := set.find(lockNode{k.line, false, k.object})
		c := clusters[root]
		if c == nil {
			c = &lockSum{waiters: map[int32]*waitSum{}, holders: map[int32]*waitSum{}}
			clusters[root] = c
		}
		c.kind = k.object
		c.total.merge(s)
		sumAt(c.waiters, k.line).merge(s)
		if k.wake >= 0 {
			sumAt(c.holders, k.wake).merge(s)
		}
	}
	var out []Lock
	held := f.heldAt()
	for _, c := range clusters {
		l := c.result(f)
		l.Holders = f.holders(c, held)
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b Lock) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), a.Waiters[0].Line.Compare(b.Waiters[0].Line))
	})
	return out
}

// isLock reports whether an object is a lock of the program.
func isLock(object string) bool { return object != "" && object != inCollector }

func queues(why exectrace.Reason) bool {
	return why == exectrace.WaitSync || why == exectrace.WaitCond
}

type lockSum struct {
	kind             string
	total            waitSum
	waiters, holders map[int32]*waitSum
}

func (w *waitSum) merge(o *waitSum) {
	w.spans.merge(&o.spans)
	w.open += o.open
	w.again += o.again
}

func (c *lockSum) result(f *Fold) Lock {
	l := Lock{Kind: c.kind, Seconds: exectrace.Seconds(c.total.total), Count: c.total.n,
		Waiters: f.wakers(c.waiters)}
	if f.length > 0 {
		l.Queue = float64(c.total.total) / float64(f.length)
	}
	var busiest queue
	for line := range c.waiters {
		if int(line) < len(f.queue) && f.queue[line].some > busiest.some {
			busiest = f.queue[line]
		}
	}
	l.Longest = int(busiest.longest)
	if f.length > 0 {
		l.Busy = float64(busiest.some) / float64(f.length)
		l.Crowded = float64(busiest.several) / float64(f.length)
	}
	if n := c.total.n - c.total.open; n > 0 {
		l.Hold = exectrace.Seconds(busiest.some) / float64(n)
	}
	l.Convoy = (c.kind == "mutex" || c.kind == "rwmutex") && c.total.n >= convoyWaits && l.Crowded >= convoyShare
	return l
}

func (f *Fold) wakers(by map[int32]*waitSum) []Waker {
	out := make([]Waker, 0, len(by))
	for line, s := range by {
		out = append(out, Waker{Line: f.lines.list[line], Seconds: exectrace.Seconds(s.total), Count: s.n})
	}
	slices.SortFunc(out, longestFirst)
	return out
}

// object returns what a goroutine waits for if it left the processor at a stack for a reason that
// covers several things.
func (f *Fold) object(s exectrace.StackID, why exectrace.Reason) string {
	frames := f.trace.Frames(s)
	if kind := lockKind(frames); kind != "" && queues(why) {
		return kind
	}
	if exectrace.InCollector(frames) {
		return inCollector
	}
	return ""
}

// inCollector is the object of waits in the runtime for the start or the end of a garbage
// collection.
const inCollector = "collector"

// lockKind returns the kind of lock from a waiter's frames, leaf first, as of Go 1.22 to 1.26. It
// returns "" for the runtime's own locks (GC, profiles).
func lockKind(frames []exectrace.Frame) string {
	kind := ""
	for _, fr := range frames {
		f := fr.Func
		switch {
		case strings.HasPrefix(f, "sync.(*RWMutex)."), strings.HasPrefix(f, "internal/sync.(*RWMutex)."):
			return "rwmutex"
		case strings.HasPrefix(f, "sync.(*Once)."):
			return "once"
		case strings.HasPrefix(f, "sync.(*Mutex)."), strings.HasPrefix(f, "internal/sync.(*Mutex)."):
			kind = "mutex" // a calling RWMutex or Once is more specific
		case strings.HasPrefix(f, "sync.(*WaitGroup)."):
			return "waitgroup"
		case strings.HasPrefix(f, "sync.(*Cond)."):
			return "cond"
		case strings.HasPrefix(f, "internal/poll.runtime_Semacquire"), strings.HasPrefix(f, "sync.runtime_Semacquire"):
			if kind == "" {
				kind = "semaphore"
			}
		case !fr.At().Standard():
			return kind
		}
	}
	return kind
}

// lockNode is a line in a role: one that waits, or one that wakes.
type lockNode struct {
	line  int32
	wakes bool
	kind  string
}

// union is a disjoint-set forest (Tarjan 1975), with path halving.
type union map[lockNode]lockNode

func (u union) find(n lockNode) lockNode {
	for {
		p, ok := u[n]
		if !ok || p == n {
			return n
		}
		if gp, ok := u[p]; ok {
			u[n] = gp
		}
		n = p
	}
}

func (u union) join(a, b lockNode) {
	if a, b = u.find(a), u.find(b); a != b {
		u[b] = a
	}
}
