package changed

import (
	"slices"
	"strings"
)

const (
	maxFacts = 30 // of each side

	returnsEarly = "returns early if"
	stopsEarly   = "stops a loop early if"
)

// difference compares what a function does in two releases.
type difference struct {
	was, now *function
	old, new []operation
	shared   []*function // that both call, as the old release has them
	added    map[int]bool
}

// newDifference lists the operations of both. What only one of them calls is read too, so that code
// which moved to another function is found there.
func newDifference(was, now *function) *difference {
	unless := func(other []operation) func(*function) bool {
		ids, dynamic := called(other), unresolved(other)
		return func(f *function) bool { return !ids[f.id()] && (f.receiver == "" || !dynamic[f.decl.Name.Name]) }
	}
	none := func(*function) bool { return false }
	d := &difference{was: was, now: now}
	d.new = operations(now, unless(operations(was, none)))
	d.old = operations(was, unless(d.new))
	d.new = operations(now, unless(d.old))
	loosen(d.old, d.new)
	loosen(d.new, d.old)
	inNew := called(d.new)
	seen := map[string]bool{}
	for _, op := range d.old {
		if f := op.target; f != nil && inNew[f.id()] && !seen[f.id()] {
			seen[f.id()] = true
			d.shared = append(d.shared, f)
		}
	}
	return d
}

// loosen gives calls of methods the key that leaves out the type of the receiver, if that is how
// the other release has them: the syntax shows the type in one of them only.
func loosen(list, other []operation) {
	theirs := map[string]bool{}
	for _, op := range other {
		theirs[op.key] = true
	}
	for i := range list {
		if op := &list[i]; op.loose != "" && !theirs[op.key] && theirs[op.loose] {
			op.key = op.loose
		}
	}
}

// called returns the functions of the module that operations call.
func called(list []operation) map[string]bool {
	ids := map[string]bool{}
	for _, op := range list {
		if op.target != nil {
			ids[op.target.id()] = true
		}
	}
	return ids
}

// unresolved returns the names of methods that are called on values whose type the syntax does not
// show, which may be those of the module.
func unresolved(list []operation) map[string]bool {
	names := map[string]bool{}
	for _, op := range list {
		if op.method != "" && op.target == nil {
			names[op.method] = true
		}
	}
	return names
}

// byKey groups operations.
func byKey(list []operation) map[string][]operation {
	groups := map[string][]operation{}
	for _, op := range list {
		groups[op.key] = append(groups[op.key], op)
	}
	return groups
}

// keys returns the keys of operations in their order, each once.
func keys(list []operation) (order []string) {
	seen := map[string]bool{}
	for _, op := range list {
		if !seen[op.key] {
			seen[op.key] = true
			order = append(order, op.key)
		}
	}
	return order
}

// facts returns what is gone and what is new, the most telling first.
func (d *difference) facts() (gone, new []Fact) {
	old, now := byKey(d.old), byKey(d.new)
	for _, key := range keys(d.old) {
		if here, there := old[key], now[key]; len(there) == 0 {
			gone = append(gone, d.only(here, d.was, d.now)...)
		} else {
			gone = append(gone, d.outOf(here, there, d.was)...)
			new = append(new, d.outOf(there, here, d.now)...)
			gone = append(gone, d.fewer(here, there)...)
			new = append(new, d.also(here, there)...)
		}
	}
	for _, key := range keys(d.new) {
		if len(old[key]) == 0 {
			new = append(new, d.only(now[key], d.now, d.was)...)
		}
	}
	new = d.withConditions(new)
	gone = append(gone, d.declarations(d.was, d.now, d.old, "")...)
	new = append(new, d.declarations(d.now, d.was, d.new, "new ")...)
	new = append(new, d.parameters()...)
	d.weighReturns(gone, new)
	gone, new = unpaired(gone, new)
	return ranked(gone), ranked(new)
}

// weighReturns makes early returns tell less if they only take the place of others.
func (d *difference) weighReturns(gone, new []Fact) {
	returns := func(ops []operation) (n int) {
		for _, op := range ops {
			if op.kind == KindCondition {
				n++
			}
		}
		return n
	}
	replaced := returns(d.new) <= returns(d.old)
	for i := range gone {
		if gone[i].exits() {
			gone[i].score = min(gone[i].score, 0.7)
		}
	}
	for i := range new {
		if new[i].exits() && replaced {
			new[i].score = min(new[i].score, 0.7)
		}
	}
}

// only returns the fact that a release does something that the other does not.
func (d *difference) only(list []operation, root, other *function) []Fact {
	op := best(list)
	if op.kind == KindCall && op.target != nil && other.file.pkg.tree.counterpart(op.target) == nil && root == d.now {
		f := d.fact(op, root)
		f.Kind = KindFunction
		f.Comment = firstSentence(op.target.decl.Doc)
		f.score += 1.5
		if aboutCost(f.Comment) {
			f.score++
		}
		return []Fact{f.say("calls the new", op.name, "")}
	}
	f := d.fact(op, root)
	if op.loops > 0 && op.kind != KindLoop && op.kind != KindCondition {
		f = f.say(f.verb, f.object, " in a loop")
	}
	return []Fact{f}
}

// outOf returns what all or some operations of one release have around them, and none in the other:
// a loop, a lock.
func (d *difference) outOf(here, there []operation, root *function) (list []Fact) {
	if here[0].kind == KindCondition || here[0].kind == KindLock {
		return nil
	}
	op := best(here)
	if others := most(there, func(o operation) int { return o.loops }); op.loops > others && op.kind != KindLoop && (others == 0 || op.kind != KindLookup && op.kind != KindStore) {
		f := d.fact(op, root)
		list = append(list, f.say(f.verb, f.object, choose(others == 0, " in a loop", " in a nested loop")))
	}
	held := func(o operation) bool { return len(o.held) > 0 }
	if i := slices.IndexFunc(here, held); i >= 0 && !slices.ContainsFunc(there, held) && op.kind == KindCall && root == d.was {
		f := d.fact(here[i], root)
		f.Kind = KindLock
		f.score += 2
		list = append(list, f.say(f.verb, f.object, " while it holds "+here[i].names[0]))
	}
	return list
}

// most returns the largest value of the operations that run without an error.
func most(list []operation, value func(operation) int) (n int) {
	for _, op := range list {
		if !op.cold {
			n = max(n, value(op))
		}
	}
	return n
}

// best returns the operation that costs most, as far as one can see: in most loops, and not only
// after an error.
func best(list []operation) operation {
	return slices.MaxFunc(list, func(a, b operation) int {
		if a.cold != b.cold {
			return choose(a.cold, -1, 1)
		}
		if a.loops != b.loops {
			return a.loops - b.loops
		}
		return len(b.conds) - len(a.conds)
	})
}

// fact turns an operation into a fact. What a function does that both releases have tells less than
// that it is called, or no longer called.
func (d *difference) fact(op operation, root *function) Fact {
	f := Fact{Kind: op.kind, Name: op.name, Line: op.f.file.line(op.pos), score: max(op.score(), 0.5+0.6*op.inner),
		targets: []*function{op.target}, rootLine: op.line, condition: strings.TrimPrefix(op.key, KindCondition+" return ")}
	if op.f != root {
		f.In = op.f.title()
		if op.f.file.name != root.file.name {
			f.File = op.f.file.name
		}
		f.score *= 0.6
		if other := d.other(root); other.file.pkg.tree.counterpart(op.f) != nil {
			f.score /= 2
		}
	}
	f.Comment = op.f.file.commentAt(op.pos)
	return f.say(op.verb, op.name+d.of(op, root), "")
}

// of names the package of a call, if the other release means another one by the same name.
func (d *difference) of(op operation, root *function) string {
	qualifier, _, ok := strings.Cut(op.name, ".")
	if !ok || op.kind != KindCall && op.kind != KindDefer || op.f.scope().local(qualifier) {
		return ""
	}
	here, there := op.f.file.imports[qualifier], d.other(root).file.imports[qualifier]
	if here == "" || there == "" || here == there {
		return ""
	}
	return " of " + here
}

// other is the function of the other release.
func (d *difference) other(root *function) *function {
	if root == d.was {
		return d.now
	}
	return d.was
}

// say sets the text of a fact from its parts.
func (f Fact) say(verb, object, suffix string) Fact {
	f.verb, f.object, f.suffix = verb, object, suffix
	f.Text = verb + " " + object + suffix
	return f
}

// unpaired drops facts that are both gone and new: the key differs, the words do not.
func unpaired(gone, new []Fact) (a, b []Fact) {
	texts := map[string]int{}
	for _, f := range gone {
		texts[f.Text] |= 1
	}
	for _, f := range new {
		texts[f.Text] |= 2
	}
	both := func(f Fact) bool { return texts[f.Text] == 3 }
	return slices.DeleteFunc(gone, both), slices.DeleteFunc(new, both)
}

// ranked sorts facts by what they tell, and drops those that another one says too.
func ranked(list []Fact) []Fact {
	slices.SortStableFunc(list, func(a, b Fact) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	seen := map[string]bool{}
	list = slices.DeleteFunc(list, func(f Fact) bool {
		twice := seen[f.Text]
		seen[f.Text] = true
		return twice || f.score < 0.3
	})
	return list[:min(len(list), maxFacts)]
}

// withConditions adds the conditions that operations of both releases have only in the new one. An
// early return that makes one is not listed too.
func (d *difference) withConditions(list []Fact) []Fact {
	known := map[string]bool{}
	for _, op := range d.old {
		for _, c := range op.conds {
			known[c.key] = true
		}
	}
	type guarded struct {
		c   condition
		ops []operation
	}
	var order []*guarded
	byCond := map[string]*guarded{}
	old, now := byKey(d.old), byKey(d.new)
	for _, key := range keys(d.new) {
		op := now[key][0]
		if len(old[key]) == 0 || op.kind == KindCondition || op.cold {
			continue
		}
		c, ok := newCondition(now[key], old[key], known)
		if !ok {
			continue
		}
		g := byCond[c.key]
		if g == nil {
			g = &guarded{c: c}
			byCond[c.key] = g
			order = append(order, g)
		}
		g.ops = append(g.ops, op)
	}
	for _, g := range order {
		exit := slices.IndexFunc(list, func(f Fact) bool {
			return f.Kind == KindCondition && g.c.key == "not "+f.condition && f.exits()
		})
		switch f := d.guardedFact(g.c, g.ops); {
		case exit < 0:
			list = append(list, f)
		case f.score > list[exit].score:
			list[exit] = f
		default:
			list[exit].targets = f.targets
		}
	}
	return list
}

// newCondition returns a condition around all operations of a key that the old release does not
// have. A condition that only takes the place of another is not new.
func newCondition(list, before []operation, known map[string]bool) (found condition, ok bool) {
	least := slices.MinFunc(before, func(a, b operation) int { return len(a.conds) - len(b.conds) })
	for i, op := range list {
		if len(op.conds) <= len(least.conds) {
			return condition{}, false
		}
		j := slices.IndexFunc(op.conds, func(c condition) bool { return !known[c.key] })
		if j < 0 {
			return condition{}, false
		}
		if i == 0 {
			found = op.conds[j]
		}
	}
	return found, true
}

// exits reports whether a fact is that a function or a loop ends early.
func (f *Fact) exits() bool { return f.verb == returnsEarly || f.verb == stopsEarly }

func (d *difference) guardedFact(c condition, ops []operation) Fact {
	slices.SortStableFunc(ops, func(a, b operation) int {
		return choose(a.score() > b.score(), -1, choose(a.score() < b.score(), 1, 0))
	})
	f := d.fact(ops[0], d.now)
	f.Kind = KindCondition
	var names []string
	for _, op := range ops {
		if op.verb == ops[0].verb && !slices.Contains(names, op.name) && len(names) < 3 {
			names = append(names, op.name)
			f.targets = append(f.targets, op.target)
		}
	}
	f.score++
	return f.say(ops[0].verb, join(names, "and"), " only if "+c.text)
}

// join lists words: "a, b and c".
func join(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	n := len(words) - 1
	return strings.Join(words[:n], ", ") + " " + last + " " + words[n]
}
