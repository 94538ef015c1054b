package evidence

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	itself  = "the line itself"
	growing = "growing a slice"

	mostCallees = 2    // in words
	leastCallee = 0.15 // of the line's cost, of a callee in words
)

// Split describes which calls take a line's CPU and memory: "its CPU goes to fmt.Sprintf (97 %)";
// "" if there are none.
func Split(s *site.Site) string {
	cpu, bytes := parts(s.CPU), parts(s.Allocs)
	switch {
	case cpu == "" && bytes == "":
		return ""
	case cpu == bytes:
		return "its CPU and memory go to " + cpu
	case cpu == "":
		return "its memory is allocated by " + bytes
	case bytes == "":
		return "its CPU goes to " + cpu
	}
	return "its CPU goes to " + cpu + ", its memory is allocated by " + bytes
}

// Inputs describes the inputs of the functions that the line calls, otherwise those of its own
// function; "" if nothing is known.
func Inputs(p *rule.Pass, s *site.Site) string {
	byCallee := map[string]int64{}
	for _, rows := range [][]*site.Row{s.CPU, s.Allocs} {
		for _, r := range rows {
			byCallee[callee(r)] += r.Value
		}
	}
	names := slices.SortedFunc(maps.Keys(byCallee), func(a, b string) int { return cmp.Or(cmp.Compare(byCallee[b], byCallee[a]), strings.Compare(a, b)) })
	for _, name := range append(names, s.Function) {
		words, values := InputsSeen(p, name), ValuesSeen(p, name)
		if words != "" && values != "" {
			words += ": "
		} else if values != "" {
			words = "got "
		}
		if words += values; words != "" {
			return symbol.Short(funcname.Typed(name)) + " " + words
		}
	}
	return ""
}

// parts describes where a line's rows go: "fmt.Sprintf (60 %) and the line itself (40 %)"; "" when
// there are none, or the line calls nothing that costs much.
func parts(rows []*site.Row) string {
	total := int64(0)
	byCallee := map[string]int64{}
	for _, r := range rows {
		total += r.Value
		byCallee[callee(r)] += r.Value
	}
	if total <= 0 {
		return ""
	}
	names := make([]string, 0, len(byCallee))
	for name := range byCallee {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(byCallee[b], byCallee[a]), strings.Compare(a, b))
	})
	var words []string
	for _, name := range names[:min(len(names), mostCallees)] {
		if share := float64(byCallee[name]) / float64(total); share >= leastCallee || len(words) == 0 {
			words = append(words, fmt.Sprintf("%s (%s)", symbol.Short(funcname.Typed(name)), units.Percent(share)))
		}
	}
	if names[0] == itself && len(words) == 1 {
		return ""
	}
	return funcname.List(words)
}

// callee returns the function that the line calls in a row. Calls of the runtime's allocator are
// "allocation", those that make room for append "growing a slice".
func callee(r *site.Row) string {
	name := stacks.Callee(r)
	switch {
	case name == "", funcname.Match(name, "runtime.asyncPreempt*"): // the scheduler stopped the line, it called nothing
		return itself
	case name == "runtime.growslice":
		return growing
	case r.Class == site.Malloc && strings.HasPrefix(name, "runtime."):
		return "allocation"
	}
	return name
}
