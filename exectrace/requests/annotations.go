package requests

import (
	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests/internal/servers"
)

// machineEvent takes the events of rare kinds: processors, garbage collection, CPU samples, gaps.
func (f *Fold) machineEvent(e *exectrace.Event) {
	switch e.Kind {
	case exectrace.ProcStart, exectrace.ProcStop, exectrace.ProcSteal, exectrace.ProcStatus,
		exectrace.ProcsChange, exectrace.STWBegin, exectrace.STWEnd:
		f.machine(e)
	case exectrace.GCMarkAssistBegin, exectrace.GCMarkAssistEnd:
		if l := f.of(e.G); l != nil {
			l.chargeRun(e.Time)
			l.assist = e.Kind == exectrace.GCMarkAssistBegin
			l.setWork()
		}
	case exectrace.GCSweepBegin, exectrace.GCSweepEnd:
		if l := f.of(e.G); l != nil {
			l.chargeRun(e.Time)
			l.sweep = e.Kind == exectrace.GCSweepBegin
			l.setWork()
		}
	case exectrace.CPUSample:
		f.sample(e)
	case exectrace.Gap:
		f.gap()
	}
}

// of returns the request of a goroutine, nil if it has none.
func (f *Fold) of(g exectrace.GIndex) *live {
	if int(g) >= len(f.live) { // NoG too
		return nil
	}
	return f.live[g]
}

// gap drops the state of all goroutines: generations are missing.
func (f *Fold) gap() {
	for g := range f.live {
		f.forget(exectrace.GIndex(g))
	}
	f.forgetMachine()
	if f.paths != nil {
		f.paths.forget()
	}
}

// taskBegin names a request by the first task in it. Outside any request, it starts one.
func (f *Fold) taskBegin(e *exectrace.Event) {
	if int(e.G) >= len(f.live) {
		if e.G == exectrace.NoG {
			return
		}
		f.grow(int(e.G) + 1)
	}
	l := f.live[e.G]
	if l != nil && l.parent != nil && !l.handles {
		if l.owner() != nil {
			return // part of a request that is known
		}
		f.drop(e.G)
		l = nil
	}
	if l == nil && f.classes[e.Stack].place != servers.Nowhere {
		if l = f.join(e); l == nil {
			return
		}
	}
	if l == nil {
		if c := f.children[e.G]; c.of != nil && c.of.id == c.id {
			return // part of a request that is known
		}
		l = f.enter(e.G, Task)
		l.now.state = exectrace.Running
		l.start(e.Time)
		f.confirm(l, class{}, e.Time)
		l.task = e.Value
		l.taskName = f.src.Annotation(e).Name
		l.name, l.depth = f.nameID(l.taskName), 255
		f.tasks[e.Value] = e.G
		return
	}
	l.chargeRun(e.Time)
	f.observe(l, f.classes[e.Stack], e.Time)
	if l = l.owner(); l == nil {
		return
	}
	if l.task == 0 && l.phase >= handling {
		l.task, l.taskName = e.Value, f.src.Annotation(e).Name
	}
}

func (f *Fold) taskEnd(e *exectrace.Event) {
	if len(f.tasks) == 0 {
		return
	}
	g, ok := f.tasks[e.Value]
	if !ok {
		return
	}
	delete(f.tasks, e.Value)
	l := f.live[g]
	if l == nil || l.protocol != Task || l.task != e.Value {
		return
	}
	if g == e.G {
		l.chargeRun(e.Time)
	} else { // ended by another goroutine
		f.charge(l, e.Time, l.now)
	}
	f.finish(l, e.Time)
	f.drop(g)
}

// region is a region of a request.
type region struct {
	name  string
	id    uint32 // of the name; 0: none
	begin int64
	time  int64 // -1 while open
}

// maxRegions bounds the regions that one request may name.
const maxRegions = 32

// annotate takes a region or a log of a request.
func (f *Fold) annotate(e *exectrace.Event) {
	l := f.of(e.G)
	if l == nil || l.parent != nil && !l.handles {
		return
	}
	if c := f.classes[e.Stack]; c.place != servers.Nowhere {
		l.chargeRun(e.Time)
		f.observe(l, c, e.Time)
	}
	if l = l.owner(); l == nil || l.phase < handling {
		return
	}
	switch e.Kind {
	case exectrace.RegionBegin:
		if len(l.regions) == maxRegions {
			l.beyond++
			return
		}
		words := f.src.Annotation(e)
		l.regions = append(l.regions, region{name: words.Name, id: words.ID, begin: e.Time, time: -1})
	case exectrace.RegionEnd:
		if l.beyond > 0 {
			l.beyond--
			return
		}
		for i := len(l.regions) - 1; i >= 0; i-- { // regions of a goroutine nest
			if r := &l.regions[i]; r.time < 0 {
				r.time = e.Time - r.begin
				return
			}
		}
	}
}
