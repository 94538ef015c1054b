package changed

import (
	"cmp"
	"maps"
	"slices"
)

const maxAround = 2 // callers and namesakes

// callers compares the functions of the package that call a function in the old release and do so
// less in the new one.
func (p *pair) callers(was *function) (list []Change) {
	for _, f := range was.file.pkg.sorted() {
		if len(list) == maxAround || p.seen[f.id()] || !callsDirectly(f, was) {
			continue
		}
		now := p.new.counterpart(f)
		if now == nil {
			continue
		}
		c := p.compare(f, now, maxDepth)
		if slices.ContainsFunc(c.Gone, func(g Fact) bool { return g.calls(was) }) {
			c.Role = RoleCaller
			list = append(list, c)
		}
	}
	return list
}

// calls reports whether a fact is about a call of a function.
func (f *Fact) calls(g *function) bool {
	return f.target != nil && f.target.id() == g.id()
}

func callsDirectly(f, g *function) bool {
	return slices.ContainsFunc(operations(f, func(*function) bool { return false }), func(op operation) bool { return op.target == g })
}

// namesakes compares a function that is gone with new functions of the same name and another
// receiver.
func (p *pair) namesakes(was *function) (list []Change) {
	there, here := p.new.packageOf(was), was.file.pkg
	if there == nil {
		return nil
	}
	for _, f := range there.named[was.decl.Name.Name] {
		if len(list) == maxAround || len(here.funcs[f.key]) > 0 {
			continue
		}
		c := p.compare(was, f, maxDepth)
		c.Name, c.Role = f.title(), RoleNamesake
		if c.tells() {
			list = append(list, c)
		}
	}
	return list
}

// sorted returns the functions of a package in the order of its files.
func (p *pkg) sorted() (list []*function) {
	for _, key := range slices.Sorted(maps.Keys(p.funcs)) {
		list = append(list, p.funcs[key][0])
	}
	slices.SortStableFunc(list, func(a, b *function) int {
		return cmp.Or(cmp.Compare(a.file.name, b.file.name), cmp.Compare(a.decl.Pos(), b.decl.Pos()))
	})
	return list
}
