package newerrelease

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/profile"
)

// costs are shares of a profile's total that pass through functions, by name.
type costs map[string]float64

// rowCosts sums rows.
func rowCosts(rows []*site.Row) costs {
	sums := costs{}
	var total float64
	seen := map[string]bool{}
	for _, r := range rows {
		total += float64(r.Value)
		clear(seen)
		for _, f := range r.Stack {
			if name := declaration(f.Function); !seen[name] {
				seen[name] = true
				sums[name] += float64(r.Value)
			}
		}
	}
	for name := range sums {
		sums[name] /= max(total, 1)
	}
	return sums
}

// profileCosts sums a profile; nil if there is none.
func profileCosts(p *profile.Profile, column string) costs {
	if p == nil {
		return nil
	}
	index, err := p.SampleIndex(column)
	if err != nil {
		return nil
	}
	sums := costs{}
	var total float64
	names := make([]string, len(p.Functions))
	for i, f := range p.Functions {
		names[i] = declaration(f.Name)
	}
	seen := map[string]bool{}
	for i, v := range p.Values(index) {
		if measuring(p, i) {
			continue
		}
		total += float64(v)
		clear(seen)
		for _, l := range p.Stack(i) {
			for _, line := range p.Locations[l].Lines {
				if name := names[line.Func]; !seen[name] {
					seen[name] = true
					sums[name] += float64(v)
				}
			}
		}
	}
	for name := range sums {
		sums[name] /= max(total, 1)
	}
	return sums
}

// measuring reports whether a row is the work of hone's probe, which rows of sites leave out.
func measuring(p *profile.Profile, row int) bool {
	for _, l := range p.Stack(row) {
		for _, line := range p.Locations[l].Lines {
			if target.IsProbeFile(filepath.Base(p.Functions[line.Func].Filename)) {
				return true
			}
		}
	}
	return false
}

// scaled multiplies the shares, in place.
func (c costs) scaled(k float64) costs {
	for name := range c {
		c[name] *= k
	}
	return c
}

// declaration returns the name of the function that a function literal is in: literals are
// numbered, so that their names change with what is around them.
func declaration(name string) string {
	dir := name[:strings.LastIndexByte(name, '/')+1]
	rest := name[len(dir):]
	if pkg, _, ok := strings.Cut(rest, "."); ok { // a literal in a method that was compiled into its method value
		if _, method, ok := strings.Cut(rest, "-fm."); ok {
			rest = pkg + "." + method
		}
	}
	rest = strings.TrimSuffix(rest, "-fm")
	for _, mark := range []string{".func", ".gowrap", ".deferwrap", " (closure"} {
		if i := strings.Index(rest, mark); i > 0 && (mark[0] == ' ' || numbered(rest[i+len(mark):])) {
			rest = rest[:i]
		}
	}
	return dir + rest
}

func numbered(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// saved is how much less passes through a function with the newer release, as a share of the
// profile before.
type saved struct {
	function    string
	share, less float64
}

// savings returns the functions of a module through which less passes after, most first.
func savings(p *rule.Pass, module string, before, after costs) []saved {
	var list []saved
	for name, share := range before {
		if less := share - after[name]; less > 0 && p.Code.Owner(name, "").Module == module {
			list = append(list, saved{name, share, less})
		}
	}
	slices.SortFunc(list, func(a, b saved) int {
		return cmp.Or(cmp.Compare(b.less, a.less), cmp.Compare(a.share, b.share), strings.Compare(a.function, b.function))
	})
	return list
}
