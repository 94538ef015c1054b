package requests

import "github.com/hone-go/hone/exectrace"

// spell is an interval in which a goroutine was off its processor, and who ended it.
type spell struct {
	begin, end int64
	goid       uint64
	by         uint64 // ID of the goroutine that woke or created it; 0: not known
	prev       uint32 // the goroutine's interval before this
	cause      uint32 // the last interval of by at that time
	left       exectrace.StackID
	wake       exectrace.StackID // of by
	request    uint32            // that by worked for; 0: none
	part       Part
}

// strand is the list of one goroutine's intervals.
type strand struct {
	goid uint64
	head uint32 // its last spell
	// About its creation, until it first runs.
	by      uint64
	cause   uint32
	request uint32
}

// recorder keeps the last intervals of all goroutines in a ring. Intervals are numbered from 1;
// those of one goroutine are a list, newest first.
type recorder struct {
	ring  []spell  // a power of two
	last  uint32   // number of the newest
	stop  uint32   // recording stops after this one; 0: never
	gs    []strand // by GIndex
	spots map[spotKey]Spot
}

func newRecorder(records int) *recorder {
	n := 1 << 4
	for n < records && n < 1<<28 {
		n *= 2
	}
	return &recorder{ring: make([]spell, n), spots: map[spotKey]Spot{}}
}

func (r *recorder) grow(n int) { r.gs = append(make([]strand, 0, n), r.gs...)[:n] }

// forget drops all intervals: what comes next is not connected to them.
func (r *recorder) forget() {
	clear(r.gs)
	clear(r.ring)
}

// get returns an interval; nil if it was overwritten or never recorded.
func (r *recorder) get(n uint32) *spell {
	if n == 0 || r.last-n >= uint32(len(r.ring)) {
		return nil
	}
	return &r.ring[n&uint32(len(r.ring)-1)]
}

// push allocates a goroutine's next interval.
func (r *recorder) push(s *strand) *spell {
	r.last++
	if r.last == 0 { // after 4 billion
		r.last++
	}
	x := &r.ring[r.last&uint32(len(r.ring)-1)]
	*x = spell{goid: s.goid, prev: s.head}
	s.head = r.last
	return x
}

// full reports whether the last interval that is needed has been recorded.
func (r *recorder) full() bool { return r.stop != 0 && r.last >= r.stop }

// note records an event of a goroutine.
func (r *recorder) note(f *Fold, e *exectrace.Event) {
	if r.full() {
		return
	}
	s := &r.gs[e.G]
	kind := e.Kind
	if kind == exectrace.GoSwitch && e.From == exectrace.Waiting { // a coroutine is woken and runs at once
		kind = exectrace.GoUnblock
	}
	switch kind {
	case exectrace.GoUnblock:
		x := r.push(s)
		x.begin, x.end, x.part, x.left = e.Since, e.Time, f.partOf(e.From, e.Was, e.Left), e.Left
		if e.By != exectrace.NoG && int(e.By) < len(r.gs) && e.By != e.G {
			by := &r.gs[e.By]
			x.by, x.cause, x.wake, x.request = by.goid, by.head, e.Stack, f.worksFor(e.By)
		}
	case exectrace.GoStart:
		x := r.push(s)
		x.begin, x.end, x.part, x.left = e.Since, e.Time, f.partOf(e.From, e.Was, e.Left), e.Left
		if x.part == ReadyCreated {
			x.by, x.cause, x.wake, x.request = s.by, s.cause, e.Left, s.request
		}
	case exectrace.GoSyscallEnd, exectrace.GoSyscallEndLost:
		x := r.push(s)
		x.begin, x.end, x.part, x.left = e.Since, e.Time, InSyscall, e.Left
	case exectrace.GoCreate, exectrace.GoCreateSyscall:
		*s = strand{goid: f.src.Goroutine(e.G).ID}
		if e.By != exectrace.NoG && int(e.By) < len(r.gs) {
			by := &r.gs[e.By]
			s.by, s.cause, s.request = by.goid, by.head, f.worksFor(e.By)
		}
	case exectrace.GoStatus:
		if e.From == exectrace.Unknown {
			*s = strand{goid: f.src.Goroutine(e.G).ID}
		}
	}
}

// worksFor returns the request that a goroutine, or one that it descends from, serves; 0: none.
func (f *Fold) worksFor(g exectrace.GIndex) uint32 {
	if l := f.live[g]; l != nil && l.phase >= handling {
		return uint32(l.id)
	}
	if c := f.children[g]; c.of != nil && c.of.id == c.id {
		return uint32(c.id)
	}
	return 0
}
