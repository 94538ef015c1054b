package report

import (
	"bufio"
	"fmt"
	"github.com/hone-go/hone/profile/measure"
	"io"
	"strconv"
	"strings"
)

// WriteCallgrind writes the graph in the format of valgrind's callgrind (version 1, "instr line"
// positions, names and addresses compressed), which KCachegrind reads. Compute the graph with
// GraphOptions.Addresses, from the same view. Values are integers in the view's unit, rounded
// towards zero as in pprof. If the view does not choose a unit, it is the one that fits the
// smallest value.
//
// It differs from pprof in two ways. DivideBy divides the values; in pprof it only affects the
// choice of the unit. Functions that have the same name and file but differ (in binary, start line
// or place in a call tree) get a number where they are defined too, not only where they are called,
// so that a reader can match the two.
func (g *CallGraph) WriteCallgrind(w io.Writer, v *View) error {
	c := &callgrind{g: g, v: v, w: bufio.NewWriter(w), objects: map[string]int{}, files: map[string]int{}, names: map[string]int{}}
	if c.unit = v.Unit; c.unit == "" || c.unit == "minimum" || c.unit == "auto" {
		c.unit = c.leastUnit()
	}
	c.disambiguate()
	fmt.Fprintf(c.w, "positions: instr line\nevents: %s(%s)\n", lineless(g.SampleType.Type), lineless(c.unit))
	for i := range g.Nodes {
		c.node(i)
	}
	if err := c.w.Flush(); err != nil {
		return fmt.Errorf("write callgrind: %w", err)
	}
	return nil
}

type callgrind struct {
	g                     *CallGraph
	v                     *View
	w                     *bufio.Writer
	unit                  string
	unique                []string // of each node
	objects, files, names map[string]int
	previous              *Node
}

func (c *callgrind) node(i int) {
	n := &c.g.Nodes[i]
	if p := c.previous; p == nil || n.Object != p.Object || n.File != p.File || c.unique[i] != c.unique[i-1] {
		fmt.Fprintf(c.w, "\nob=%s\nfl=%s\nfn=%s\n", compress(c.objects, n.Object), compress(c.files, n.File), compress(c.names, c.unique[i]))
	}
	fmt.Fprintf(c.w, "%s %d %d\n", c.address(n.Address), n.Line, c.scale(n.Flat))
	for _, e := range c.g.Out(i) {
		callee := &c.g.Nodes[e.To]
		// A profile does not count calls.
		fmt.Fprintf(c.w, "cfl=%s\ncfn=%s\ncalls=0 %s %d\n* * %d\n", compress(c.files, callee.File), compress(c.names, c.unique[e.To]),
			c.address(callee.Address), callee.Line, c.scale(e.Weight))
	}
	c.previous = n
}

func (c *callgrind) scale(v int64) int64 {
	x, _ := measure.Scale(c.v.Divide(v), c.g.SampleType.Unit, c.unit)
	return int64(x)
}

// compress writes a name with a number on first use, and only the number afterwards.
func compress(known map[string]int, name string) string {
	if name == "" {
		return ""
	}
	if id, ok := known[name]; ok {
		return fmt.Sprintf("(%d)", id)
	}
	known[name] = len(known) + 1
	return fmt.Sprintf("(%d) %s", len(known), lineless(name))
}

// lineless replaces line ends in a name, which would end the name, by spaces.
func lineless(name string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(name) }

// address formats an address: relative to that of the previous node if this is shorter.
func (c *callgrind) address(a uint64) string {
	absolute := "0x" + strconv.FormatUint(a, 16)
	if c.previous == nil {
		return absolute
	}
	if c.previous.Address == a {
		return "*"
	}
	if relative := fmt.Sprintf("%+d", int64(a-c.previous.Address)); len(relative) < len(absolute) {
		return relative
	}
	return absolute
}

// disambiguate numbers the functions that share a name and a file.
func (c *callgrind) disambiguate() {
	type name struct{ file, function string }
	type function struct {
		object    string
		startLine int64
		context   int32
	}
	of := func(n *Node) (name, function) {
		return name{n.File, n.Name}, function{n.Object, n.StartLine, n.Context}
	}
	numbers := map[name]map[function]int{}
	for i := range c.g.Nodes {
		k, f := of(&c.g.Nodes[i])
		if numbers[k] == nil {
			numbers[k] = map[function]int{}
		}
		if _, ok := numbers[k][f]; !ok {
			numbers[k][f] = len(numbers[k]) + 1
		}
	}
	c.unique = make([]string, len(c.g.Nodes))
	for i := range c.g.Nodes {
		k, f := of(&c.g.Nodes[i])
		c.unique[i] = k.function
		if all := numbers[k]; len(all) > 1 {
			c.unique[i] += fmt.Sprintf(" [%d/%d]", all[f], len(all))
		}
	}
}

// leastUnit returns the unit that fits the smallest node.
func (c *callgrind) leastUnit() string {
	least := c.g.Least()
	if least == 0 {
		least = c.g.Total
	}
	if _, label := measure.Scale(c.v.Divide(least), c.g.SampleType.Unit, "minimum"); label != "" {
		return label
	}
	return c.g.SampleType.Unit
}
