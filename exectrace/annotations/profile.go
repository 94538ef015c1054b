package annotations

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/profile"
)

// View names a profile of the annotations.
type View string

// The profiles. Tasks and regions are those that started and ended in the trace, by the stack at
// which they started. A task may end in another goroutine.
const (
	Tasks   View = "tasks"
	Regions View = "regions"
	Logs    View = "logs"
)

// Profile returns a pprof profile of counts and, except for logs, times. The label "task", "region"
// or "category" holds the name. Regions may be nested, and tasks may overlap: their times are not
// parts of a whole.
func (f *Fold) Profile(v View) (*profile.Profile, error) {
	types := []profile.ValueType{{Type: string(v), Unit: "count"}, {Type: "time", Unit: "nanoseconds"}}
	var of *places
	label := "category"
	switch v {
	case Tasks:
		of, label = &f.taskPlaces, "task"
	case Regions:
		of, label = &f.regionPlaces, "region"
	case Logs:
		of, types = &f.logPlaces, types[:1]
	default:
		return nil, fmt.Errorf("annotations have no profile %q", v)
	}
	return f.trace.Profile(types, of.rows(label, len(types)))
}

// places holds sums by stack and name.
type places struct {
	last []*place // by stack: the place of the last name
	all  map[placeKey]*place
	rest *place // the sum of those beyond maxPlaces
}

// maxPlaces bounds the number of sums: a program may generate names.
const maxPlaces = 1 << 16

// placeKey has the ID of a name; names beyond those with an ID share 0.
type placeKey struct {
	stack exectrace.StackID
	label uint32
}

type place struct {
	placeKey
	name  string
	n, ns int64
}

// add adds an event at a stack.
func (p *places) add(t *exectrace.Trace, e *exectrace.Event, stack exectrace.StackID, ns int64) {
	k := placeKey{stack, t.Label(e)}
	if int64(stack) < int64(len(p.last)) {
		if at := p.last[stack]; at != nil && at.label == k.label {
			at.n++
			at.ns += ns
			return
		}
	}
	at := p.find(t, e, k)
	at.n++
	at.ns += ns
}

func (p *places) find(t *exectrace.Trace, e *exectrace.Event, k placeKey) *place {
	if p.all == nil {
		p.all, p.rest = map[placeKey]*place{}, &place{}
	}
	x := p.all[k]
	if x == nil {
		if len(p.all) >= maxPlaces {
			return p.rest
		}
		x = &place{placeKey: k}
		if k.label != 0 {
			x.name = t.Annotation(e).Name
		}
		p.all[k] = x
	}
	p.last = at(p.last, uint32(k.stack))
	p.last[k.stack] = x
	return x
}

// rows returns the sums in an order that does not depend on the order of maps.
func (p *places) rows(label string, values int) []exectrace.Row {
	var list []*place
	for _, x := range p.all {
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b *place) int {
		return cmp.Or(cmp.Compare(a.stack, b.stack), cmp.Compare(a.name, b.name), cmp.Compare(a.label, b.label))
	})
	if p.rest != nil && p.rest.n > 0 {
		list = append(list, p.rest)
	}
	rows := make([]exectrace.Row, 0, len(list))
	for _, x := range list {
		row := exectrace.Row{Stack: x.stack, Values: []int64{x.n, x.ns}[:values]}
		if x.name != "" {
			row.Labels = map[string]string{label: x.name}
		}
		rows = append(rows, row)
	}
	return rows
}
