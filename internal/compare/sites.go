package compare

import (
	"strings"

	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/stats"
)

// Proof compares the savings that a diagnosis predicted with what a second recording shows.
type Proof struct {
	// Functions are those with findings in the old recording, largest prediction first.
	Functions []FunctionProof `json:"functions"`
	// Predicted is the saving predicted by all of them together (see [diagnose.Together]), as a
	// share of the old CPU per request.
	Predicted stats.Interval `json:"predicted"`
	// Rest is what the program saved outside these functions: the whole saving less theirs. A fix
	// also relieves the garbage collector, the kernel and the scheduler, and the new program may
	// contain other changes.
	Rest float64 `json:"rest"`
}

// FunctionProof is one function: the CPU and GC work of its lines, and of what they call in other
// modules, per request, before and after, as shares of the old program's CPU per request.
type FunctionProof struct {
	Function  string         `json:"function"`
	Rules     []string       `json:"rules"`
	Predicted stats.Interval `json:"predicted"`
	Measured  stats.Interval `json:"measured"`
}

// Prove compares the findings of old with the sites of new. oldPer and newPer are the CPU seconds
// per request (or run) of the clean phases, which convert the shares of both profiles to one scale.
func Prove(report *diagnose.Report, old, new *site.Table, oldPer, newPer float64) Proof {
	var p Proof
	var all []*diagnose.Finding
	byFunction := map[string][]*diagnose.Finding{}
	var order []string
	for i := range report.Findings {
		f := &report.Findings[i]
		if f.Saving == nil || f.Saving.Resource != "cpu" || f.Kind == "gc" {
			continue
		}
		if len(byFunction[f.Function]) == 0 {
			order = append(order, f.Function)
		}
		byFunction[f.Function] = append(byFunction[f.Function], f)
		all = append(all, f)
	}
	p.Predicted = diagnose.Together("cpu", all...)
	scale := 0.0
	if oldPer > 0 {
		scale = newPer / oldPer
	}
	before, after := spending(old, order), spending(new, order)
	for _, name := range order {
		fp := FunctionProof{
			Function:  name,
			Predicted: diagnose.Apart("cpu", byFunction[name]...),
			Measured:  stats.Minus(before[name].share(old), after[name].share(new).Scale(scale)),
		}
		for _, f := range byFunction[name] {
			fp.Rules = append(fp.Rules, f.Rule)
			for _, also := range f.Also {
				fp.Rules = append(fp.Rules, also.Rule)
			}
		}
		p.Functions = append(p.Functions, fp)
		p.Rest -= fp.Measured.Value
	}
	if oldPer > 0 {
		p.Rest += 1 - newPer/oldPer
	}
	return p
}

// spent holds the rows that belong to a function.
type spent struct{ cpu, allocs []*site.Row }

// spending assigns the rows of a table to the named functions. A row belongs to a function if one
// of the function's lines is its site, or called the site in another module: the nearest caller, up
// to the first line of the main module. Closures inside a function ("f.func1") count as part of it.
func spending(t *site.Table, functions []string) map[string]spent {
	whose := map[string]string{} // name of a frame → function
	owner := func(frame string) string {
		name, seen := whose[frame]
		if !seen {
			for _, f := range functions {
				if frame == f || strings.HasPrefix(frame, f+".func") && len(f) > len(name) {
					name = f
				}
			}
			whose[frame] = name
		}
		return name
	}
	nearest := func(r *site.Row) string {
		for i := max(r.Owner, 0); i < len(r.Stack); i++ {
			if name := owner(r.Stack[i].Function); name != "" {
				return name
			}
			if r.Stack[i].Owner.Kind == gocode.Main {
				break
			}
		}
		return ""
	}
	all := map[string]spent{}
	for _, s := range t.Sites {
		for _, r := range s.CPU {
			if name := nearest(r); name != "" {
				part := all[name]
				part.cpu = append(part.cpu, r)
				all[name] = part
			}
		}
		for _, r := range s.Allocs {
			if name := nearest(r); name != "" {
				part := all[name]
				part.allocs = append(part.allocs, r)
				all[name] = part
			}
		}
	}
	return all
}

// share returns the share of all CPU of a table's profile.
func (s spent) share(t *site.Table) stats.Interval {
	if t.Totals.TotalSeconds <= 0 {
		return stats.Interval{}
	}
	return t.Share(s.cpu, s.allocs)
}
