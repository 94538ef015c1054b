package requests

import (
	"cmp"
	"slices"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/profile"
)

// unknownRoute is the label of requests whose handler is not known.
const unknownRoute = "(unknown)"

func (f *Fold) labels(k routeKey) map[string]string {
	name := f.names[k.name]
	if name == "" {
		name = unknownRoute
	}
	return map[string]string{"route": name, "protocol": k.protocol.String()}
}

// Profile returns the latency of all requests by the stacks at which their goroutines left the
// processor, with the labels "route", "protocol" and "part". Time on the processor has no stack: it
// is one row per route and part, with an empty stack. The values sum to the requests' latency.
func (f *Fold) Profile() (*profile.Profile, error) {
	var rows []exectrace.Row
	for _, r := range f.routes.list {
		rows = append(rows, f.wallRows(r, f.innermost(routeKey{r.protocol, r.name}))...)
	}
	sortRows(rows)
	types := []profile.ValueType{{Type: "events", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}}
	return f.trace.Profile(types, rows)
}

func (f *Fold) wallRows(r *route, k routeKey) (rows []exectrace.Row) {
	add := func(stack exectrace.StackID, p Part, n, ns int64) {
		labels := f.labels(k)
		labels["part"] = p.String()
		rows = append(rows, exectrace.Row{Stack: stack, Values: []int64{n, ns}, Labels: labels})
	}
	type key struct {
		stack exectrace.StackID
		part  Part
	}
	byWaiter := map[key]*[2]int64{}
	for i := range r.stacks.slots {
		s := &r.stacks.slots[i]
		if s.n == 0 {
			continue
		}
		v := byWaiter[key{s.waiter, s.part}]
		if v == nil {
			v = new([2]int64)
			byWaiter[key{s.waiter, s.part}] = v
		}
		v[0] += s.n
		v[1] += s.ns
	}
	for at, v := range byWaiter {
		add(at.stack, at.part, v[0], v[1])
	}
	for p, ns := range r.parts {
		if p := Part(p); !p.placed() && ns > 0 {
			add(0, p, r.latency.Count(), ns)
		}
	}
	return rows
}

// sortRows puts rows in an order that does not depend on that of maps.
func sortRows(rows []exectrace.Row) {
	slices.SortFunc(rows, func(a, b exectrace.Row) int {
		return cmp.Or(cmp.Compare(a.Stack, b.Stack), cmp.Compare(a.Labels["route"], b.Labels["route"]),
			cmp.Compare(a.Labels["protocol"], b.Labels["protocol"]), cmp.Compare(a.Labels["part"], b.Labels["part"]),
			slices.Compare(a.Values, b.Values))
	})
}
