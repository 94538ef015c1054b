package diagnose

import (
	"cmp"
	"slices"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Role is how a line belongs to a finding.
type Role string

// The lines of a finding are those that its rule reports (no role), lines of the program that call
// them, lines of the program and of dependencies below, where the time goes, and the go statements
// of goroutines that wait at them.
const (
	RoleCaller  Role = "caller"
	RoleInside  Role = "inside"
	RoleCreator Role = "creator"
)

const (
	roleShare = 0.3 // least part of the finding's cost that passes through a line that is named
	mostRoles = 3   // largest number of lines of a role
)

// beyond returns the lines around those of a draft: callers of a line in a dependency, and the
// lines inside a call.
func (e *engine) beyond(d *draft) []SiteRef {
	type line struct {
		role Role
		f    *site.Frame
	}
	type key struct {
		role Role
		file string
		line int
	}
	var order []line
	sums := map[key]int64{}
	depth := map[key]int{}
	var total int64
	own := map[key]bool{}
	for _, l := range d.lines {
		own[key{"", l.site.File, l.site.Line}] = true
	}
	add := func(r *site.Row, at *site.Frame, callers bool) {
		i := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.File == at.File && f.Line == at.Line })
		if i < 0 {
			return
		}
		total += r.Value
		seen := map[key]bool{}
		for j, f := range r.Stack {
			role := RoleInside
			if j > i {
				role = RoleCaller
			}
			k := key{role, f.File, f.Line}
			switch {
			case j == i || seen[k] || own[key{"", f.File, f.Line}] || f.Line == 0:
				continue
			case role == RoleCaller && (at.Owner.Kind == gocode.Main && !callers || f.Owner.Kind != gocode.Main):
				continue
			case role == RoleInside && f.Owner.Kind != gocode.Main && f.Owner.Kind != gocode.Dependency:
				continue
			}
			seen[k] = true
			if sums[k] == 0 {
				order = append(order, line{role, f})
			}
			sums[k] += r.Value
			depth[k] = max(j-i, i-j)
		}
	}
	for _, c := range d.claims {
		if c.match.Site == nil {
			continue
		}
		rows := c.match.CPU
		if len(rows) == 0 {
			rows = c.match.Allocs
		}
		if len(rows) == 0 {
			rows = c.match.Live
		}
		if len(rows) == 0 {
			rows = c.match.Around
		}
		for _, r := range rows {
			add(r, &c.match.Site.Frame, c.match.Callers)
		}
	}
	of := func(l line) key { return key{l.role, l.f.File, l.f.Line} }
	order = slices.DeleteFunc(order, func(l line) bool { return float64(sums[of(l)]) < roleShare*float64(total) })
	slices.SortStableFunc(order, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.role, b.role), cmp.Compare(depth[of(a)], depth[of(b)]))
	})
	whole := 0.0 // the finding's own share
	for _, l := range d.lines {
		whole += l.share
	}
	inside := 0
	for _, l := range order {
		if l.role == RoleInside {
			inside++
		}
	}
	var refs []SiteRef
	n := map[Role]int{}
	for _, l := range order {
		n[l.role]++
		// Of a long way inside, the first line is where it enters a dependency, and the last ones
		// are where the time goes. Those in between only call the next one.
		if l.role == RoleInside && inside > mostRoles && n[l.role] > 1 && n[l.role] <= inside-(mostRoles-1) || l.role == RoleCaller && n[l.role] > mostRoles {
			continue
		}
		refs = append(refs, SiteRef{Place: place(*l.f), Role: l.role, Share: round(whole * float64(sums[of(l)]) / float64(total)), Source: e.source(&site.Site{Frame: *l.f})})
	}
	return refs
}

// creators returns the go statements of the goroutines that a finding is about.
func (e *engine) creators(d *draft) (refs []SiteRef) {
	for _, c := range d.claims {
		f := c.match.Creator
		if f == nil {
			continue
		}
		ref := SiteRef{Place: place(*f), Role: RoleCreator, Source: e.source(&site.Site{Frame: *f})}
		if len(refs) < mostRoles && !slices.ContainsFunc(refs, func(r SiteRef) bool { return r.Place == ref.Place }) {
			refs = append(refs, ref)
		}
	}
	return refs
}
