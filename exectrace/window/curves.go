package window

import (
	"github.com/hone-go/hone/exectrace"
)

// Limits of curves. Goroutines and processors beyond them are counted, but not shown.
const (
	baseColumns = 8192
	mostGroups  = 48 // the last is for all others
	mostProcs   = 128
)

// curves is what is drawn over time, in columns of equal width. Counts are stored as their
// integrals over a column.
type curves struct {
	from, to int64
	step     int64 // width of a column, nanoseconds
	n        int
	growing  bool // the end is unknown: step doubles when necessary
	states   [exectrace.Idle + 1]level
	gc, stw  level
	procs    []*level
	groups   []*level
	names    []string
	byName   map[string]int32
	heap     []int64 // the last value in a column; -1 none
	goal     []int64
	limit    int   // GOMAXPROCS
	endedAt  int64 // 0: not yet
}

// level is a count over time.
type level struct {
	count int64
	last  int64 // time up to which area is computed
	area  []int64
}

// newCurves returns curves of an interval.
func newCurves(from, to int64, n int) *curves {
	c := &curves{from: from, to: to, n: n, step: max(1, (to-from+int64(n)-1)/int64(n))}
	if to >= endless {
		c.growing, c.step = true, 1<<12
	}
	c.byName = map[string]int32{}
	c.heap, c.goal = make([]int64, n), make([]int64, n)
	for i := range c.heap {
		c.heap[i], c.goal[i] = -1, -1
	}
	return c
}

// newGrowingCurves returns curves of a whole trace of unknown length.
func newGrowingCurves(n int) *curves { return newCurves(0, endless, n) }

// fit extends the curves to a time.
func (c *curves) fit(now int64) {
	for c.growing && (now-c.from)/c.step >= int64(c.n) {
		c.step *= 2
		for _, l := range c.levels() {
			l.halve()
		}
		halveLast(c.heap)
		halveLast(c.goal)
	}
}

func (c *curves) levels() []*level {
	all := []*level{&c.gc, &c.stw}
	for i := range c.states {
		all = append(all, &c.states[i])
	}
	return append(append(all, c.procs...), c.groups...)
}

func (l *level) halve() {
	for i := range len(l.area) / 2 {
		l.area[i] = l.area[2*i] + l.area[2*i+1]
	}
	clear(l.area[len(l.area)/2:])
}

func halveLast(v []int64) {
	for i := range len(v) / 2 {
		v[i] = v[2*i+1]
		if v[i] < 0 {
			v[i] = v[2*i]
		}
	}
	for i := len(v) / 2; i < len(v); i++ {
		v[i] = -1
	}
}

// spread adds count over an interval of time.
func (c *curves) spread(l *level, from, to, count int64) {
	from, to = max(from, c.from), min(to, c.to)
	if from >= to || count == 0 {
		return
	}
	if l.area == nil {
		l.area = make([]int64, c.n)
	}
	c.fit(to - 1)
	a, b := (from-c.from)/c.step, (to-1-c.from)/c.step
	if a == b {
		l.area[a] += count * (to - from)
		return
	}
	l.area[a] += count * (c.from + (a+1)*c.step - from)
	for i := a + 1; i < b; i++ {
		l.area[i] += count * c.step
	}
	l.area[b] += count * (to - c.from - b*c.step)
}

// change changes a count from now on.
func (c *curves) change(l *level, now, by int64) {
	if l.count != 0 {
		c.spread(l, l.last, now, l.count)
	}
	l.last, l.count = now, l.count+by
}

// add adds the interval of one goroutine in a state, after it ended.
func (c *curves) add(s exectrace.State, from, to int64) { c.spread(&c.states[s], from, to, 1) }

// enter counts a goroutine in its state, which it entered at since, before now.
func (c *curves) enter(g *strand, since, now int64) {
	l := &c.states[g.state]
	if since < now {
		c.spread(l, since, now, 1)
	}
	c.change(l, now, 1)
	if g.state != exectrace.Running {
		return
	}
	if p := c.proc(g.proc); p != nil {
		if since < now {
			c.spread(p, since, now, 1)
		}
		c.change(p, now, 1)
	}
	if g.group >= 0 && len(c.groups) > int(g.group) {
		if since < now {
			c.spread(c.groups[g.group], since, now, 1)
		}
		c.change(c.groups[g.group], now, 1)
	}
}

// leave removes a goroutine from the counts.
func (c *curves) leave(g *strand, now int64) {
	c.change(&c.states[g.state], now, -1)
	if g.state != exectrace.Running {
		return
	}
	if p := c.proc(g.proc); p != nil {
		c.change(p, now, -1)
	}
	if g.group >= 0 && len(c.groups) > int(g.group) {
		c.change(c.groups[g.group], now, -1)
	}
}

func (c *curves) proc(p int32) *level {
	if p < 0 || p >= mostProcs {
		return nil
	}
	for int(p) >= len(c.procs) {
		c.procs = append(c.procs, &level{})
	}
	return c.procs[p]
}

// group returns the number of the group of goroutines that were started with a function.
func (c *curves) group(name string) int32 {
	if i, ok := c.byName[name]; ok {
		return i
	}
	if len(c.groups) >= mostGroups {
		return mostGroups - 1
	}
	if len(c.groups) == mostGroups-1 {
		name = "others"
	}
	i := int32(len(c.groups))
	c.groups, c.names = append(c.groups, &level{}), append(c.names, name)
	c.byName[name] = i
	return i
}

// move moves a goroutine to another group when more is known about it.
func (c *curves) move(g *strand, to int32) {
	if g.state == exectrace.Running && g.group != to && len(c.groups) > int(g.group) {
		at := g.since
		l := c.groups[g.group]
		at = max(at, l.last)
		c.change(l, at, -1)
		c.change(c.groups[to], max(at, c.groups[to].last), 1)
	}
	g.group = to
}

// rare handles events that are not transitions of goroutines.
func (c *curves) rare(e *exectrace.Event) {
	set := func(l *level, on int64) { c.change(l, e.Time, on-l.count) }
	switch e.Kind {
	case exectrace.GCBegin, exectrace.GCActive:
		set(&c.gc, 1)
	case exectrace.GCEnd:
		set(&c.gc, 0)
	case exectrace.STWBegin:
		set(&c.stw, 1)
	case exectrace.STWEnd:
		set(&c.stw, 0)
	case exectrace.HeapAlloc:
		c.point(c.heap, e)
	case exectrace.HeapGoal:
		c.point(c.goal, e)
	case exectrace.ProcsChange:
		c.limit = max(c.limit, int(e.Value))
	}
}

func (c *curves) point(v []int64, e *exectrace.Event) {
	if e.Time < c.from || e.Time >= c.to || e.Value > 1<<60 {
		if e.Time < c.from && e.Value <= 1<<60 {
			v[0] = int64(e.Value) // its value when the interval started
		}
		return
	}
	c.fit(e.Time)
	v[(e.Time-c.from)/c.step] = int64(e.Value)
}

// forget ends all counts at a gap.
func (c *curves) forget(now int64) {
	for _, l := range c.levels() {
		c.change(l, now, -l.count)
	}
}

// end closes the curves.
func (c *curves) end(now int64) {
	c.forget(now)
	c.endedAt = now
}
