package changed

import (
	"cmp"
	"fmt"
	"slices"
)

// Release is the source of a module at a version.
type Release struct{ Module, Version, Dir string }

// Change is how a function differs between two releases.
type Change struct {
	Name string // without its package: "(*T).F"

	Now string // the name of the function that has taken its place, if it has another one now

	File     string // of the declaration in the old release, relative to the module
	From, To int    // its lines

	NewFile        string
	NewFrom, NewTo int

	Same    bool // the text of the function is the same, but for comments and formatting
	Removed bool // the new release has no function with this receiver and name

	Gone     []Fact   // what only the old function does, the most telling first
	New      []Fact   // what only the new function does
	Comments []string // sentences of comments that are new, those about performance first
	Diff     []Line   // the lines that differ, with a few around them
	Inside   []Change // functions of the module around it that differ, by Role
	Role     string   // of a Change inside another: how it is related to that function

	still bool // the new release of a caller calls it too, less often
}

// Fact is one thing that a function does.
type Fact struct {
	Kind    string
	Text    string // continues a sentence after "it": "calls regexp.MustCompile"
	Name    string // what is called, used or declared: "regexp.MustCompile"
	In      string // the function that it is in, if that is not the function of the Change
	File    string // relative to the module, if In is in another file
	Line    int    // of the old release for what is gone, of the new one for what is new
	Comment string // the first sentence of the declaration's or line's comment

	verb, object, suffix string // Text in parts; names with the same verb and suffix are listed
	score                float64
	targets              []*function // that are called
	rootLine             int         // in the function of the Change: Line, or that of the call that leads to it
	condition            string      // the key of the condition of an early return
	note                 string      // what a Measure said of the line
}

// The kinds of facts.
const (
	KindCall      = "call"
	KindLoop      = "loop"
	KindCondition = "condition"
	KindField     = "field"
	KindType      = "type"
	KindVariable  = "variable"
	KindFunction  = "function"
	KindParameter = "parameter"
	KindAllocate  = "allocate"
	KindConvert   = "convert"
	KindConcat    = "concat"
	KindCopy      = "copy"
	KindLock      = "lock"
	KindChannel   = "channel"
	KindGoroutine = "goroutine"
	KindDefer     = "defer"
	KindLookup    = "lookup"
	KindStore     = "store"
)

const (
	maxInside = 5 // functions inside a change, in all
	maxDepth  = 2 // calls below the function
)

// Function compares a function, which has the name that profiles give it. Function literals and
// wrappers belong to the declaration that they are in.
func Function(old, new Release, name string) (*Change, error) {
	before, after := newTree(old), newTree(new)
	was, err := before.find(name)
	if err != nil {
		return nil, fmt.Errorf("compare %s in %s %s: %w", name, old.Module, old.Version, err)
	}
	p := pair{old: before, new: after, seen: map[string]bool{}, left: maxInside}
	now := after.counterpart(was)
	renamed := ""
	if now == nil {
		if now = p.renamed(was); now != nil {
			renamed = now.title()
		}
	}
	if now == nil && after.packageOf(was) == nil {
		return nil, fmt.Errorf("compare %s in %s %s: no source of its package", name, new.Module, new.Version)
	}
	c := p.compare(was, now, 0)
	c.Now = renamed
	return &c, nil
}

// The roles of a Change inside another.
const (
	RoleCalled   = "called"   // the function calls it
	RoleCaller   = "caller"   // it calls the function in the old release, and the new one has none or calls it less
	RoleNamesake = "namesake" // it is new, and has the function's name and another receiver
)

// pair compares functions of two releases.
type pair struct {
	old, new *tree
	seen     map[string]bool // functions that are compared
	left     int             // how many more may be compared
}

// compare compares two declarations; now is nil if the function is gone.
func (p *pair) compare(was, now *function, depth int) Change {
	p.seen[was.id()] = true
	c := Change{Name: was.title(), File: was.file.name}
	c.From, c.To = was.lines()
	if now == nil {
		c.Removed = true
		c.Inside = append(p.namesakes(was), p.callers(was)...)
		return c
	}
	c.NewFile = now.file.name
	c.NewFrom, c.NewTo = now.lines()
	c.Same = slices.Equal(was.tokens(), now.tokens())
	d := newDifference(was, now)
	if !c.Same {
		c.Diff = diff(was, now)
	}
	c.Gone, c.New = d.facts()
	c.Comments = d.comments()
	if depth < maxDepth {
		c.Inside = p.inside(d, depth)
	}
	if depth == 0 && len(c.Gone)+len(c.New)+len(c.Inside) == 0 {
		c.Inside = p.callers(was)
	}
	return c
}

// inside compares the functions that both releases call.
func (p *pair) inside(d *difference, depth int) (list []Change) {
	for _, was := range d.shared {
		if p.left == 0 || p.seen[was.id()] {
			continue
		}
		now := p.new.counterpart(was)
		if now == nil {
			continue
		}
		left := p.left
		p.left--
		c := p.compare(was, now, depth+1)
		if c.tells() {
			c.Role = RoleCalled
			list = append(list, c)
		} else {
			p.left = left
		}
	}
	slices.SortStableFunc(list, func(a, b Change) int { return cmp.Compare(b.weight(), a.weight()) })
	return list
}

// tells reports whether a change has anything to say.
func (c *Change) tells() bool {
	return len(c.Gone) > 0 || len(c.New) > 0 || len(c.Inside) > 0
}

// weight is how much a change tells.
func (c *Change) weight() (sum float64) {
	for _, list := range [][]Fact{c.Gone, c.New} {
		for _, f := range list {
			sum += f.score
		}
	}
	return sum
}
