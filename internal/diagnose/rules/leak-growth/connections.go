package leakgrowth

import (
	"cmp"
	"fmt"
	"go/types"
	"path"
	"path/filepath"
	"slices"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// holders are functions of database/sql whose results hold a connection until they are closed.
func holders() []string {
	return []string{
		"(*database/sql.DB).Query", "(*database/sql.DB).QueryContext", "(*database/sql.DB).Begin*", "(*database/sql.DB).Conn",
		"(*database/sql.Stmt).Query", "(*database/sql.Stmt).QueryContext",
		"(*github.com/jmoiron/sqlx.DB).Queryx*", "(*github.com/jmoiron/sqlx.DB).NamedQuery*", "(*github.com/jmoiron/sqlx.DB).Beginx",
	}
}

// holder is a line whose connection is not given back.
type holder struct {
	site  *site.Site
	place *gocode.Place
	runs  float64
}

// unclosedRows returns the match for connections of a database pool that grow in number, if the
// source shows lines that do not give theirs back. Those lines are often not the ones that opened
// the connections: the pool opens another one for whoever asks next.
func (w *window) unclosedRows() (rule.Match, bool) {
	g, ok := w.connections()
	if !ok {
		return rule.Match{}, false
	}
	found := w.holders()
	if len(found) == 0 {
		return rule.Match{}, false
	}
	g.Site = found[0].site
	m, ok := w.judge(g)
	if !ok || m.Confidence != rule.Likely {
		return rule.Match{}, false
	}
	m.Callees = nil
	if len(found) > 1 {
		var lines []string
		for _, h := range found[1:min(len(found), 4)] {
			lines = append(lines, fmt.Sprintf("%s:%d", path.Base(filepath.ToSlash(h.site.File)), h.site.Line))
		}
		m.Cause += fmt.Sprintf(" The same is true of %s.", funcname.List(lines))
	}
	return m, true
}

// connections returns the growth of what was allocated when a pool opened connections.
func (w *window) connections() (g growth, found bool) {
	for _, grown := range w.pass.Growth {
		s := w.pass.Site(&grown.Frame)
		live, _ := stacks.Sum(s.Live)
		opened := stacks.Select(s.Live, opens)
		part, _ := stacks.Sum(opened)
		if live <= 0 || part <= 0 {
			continue
		}
		made, _ := stacks.Sum(stacks.Select(s.Allocs, opens))
		share := float64(part) / float64(live)
		g.bytes += int64(share * float64(grown.Bytes))
		g.objects += int64(share * float64(grown.Objects))
		g.made += made
		g.live = append(g.live, opened...)
	}
	g.callee = "database/sql.(*DB).conn"
	return g, g.bytes > 0 && g.made > 0
}

// opens reports whether a row was allocated when a pool opened a connection.
func opens(r *site.Row) bool {
	return slices.ContainsFunc(r.Stack, func(f *site.Frame) bool {
		return funcname.Match(f.Function, "database/sql.(*DB).conn", "database/sql.(*DB).openNewConnection")
	})
}

// connecting reports whether most of some live memory was allocated when a pool opened connections.
func connecting(live []*site.Row) bool {
	all, _ := stacks.Sum(live)
	part, _ := stacks.Sum(stacks.Select(live, opens))
	return all > 0 && float64(part) >= mostThrough*float64(all)
}

// holders returns the lines that ran and do not give their connection back, most frequent first.
func (w *window) holders() (found []holder) {
	p := w.pass
	if p.Syntax == nil {
		return nil
	}
	for _, place := range p.Syntax.Calls(func(fn *types.Func) bool { return funcname.Match(fn.FullName(), holders()...) }) {
		if unclosed(place) == nil {
			continue
		}
		file := place.Fset.Position(place.Nodes[0].Pos()).Filename
		s := traced.SiteAt(p, exectrace.Line{Function: syntax.ProfileName(place), File: file, Line: place.Line})
		if s == nil || slices.ContainsFunc(found, func(h holder) bool { return h.site.Line == s.Line && h.site.File == s.File }) {
			continue
		}
		e, counted := evidence.Executions(p, s.Frame)
		if counted && e.PerUnit <= 0 {
			continue
		}
		found = append(found, holder{s, place, e.PerUnit})
	}
	slices.SortStableFunc(found, func(a, b holder) int { return cmp.Compare(b.runs, a.runs) })
	return found
}
