package changed

import (
	"fmt"
	"slices"
	"strings"
)

// fewer returns the fact that the old release does something in more places.
func (d *difference) fewer(here, there []operation) []Fact {
	op, a, b := best(here), warm(here), warm(there)
	if a <= b || b == 0 || op.f != d.was || !counted(op) {
		return nil
	}
	f := d.fact(op, d.was)
	f.score -= 1.5
	return []Fact{f.say(f.verb, f.object, fmt.Sprintf(" in %d places (now in %d)", a, b))}
}

// also returns the fact that the new release does something in more places: where the text is new.
func (d *difference) also(here, there []operation) []Fact {
	if warm(there) <= warm(here) || !counted(best(there)) {
		return nil
	}
	added := d.addedLines()
	i := slices.IndexFunc(there, func(op operation) bool {
		return op.f == d.now && !op.cold && added[op.f.file.line(op.pos)]
	})
	if i < 0 {
		return nil
	}
	f := d.fact(there[i], d.now)
	f.score -= 0.5
	return []Fact{f.say("also "+f.verb, f.object, "")}
}

// counted reports whether the number of places of an operation tells anything.
func counted(op operation) bool {
	switch op.kind {
	case KindChannel, KindGoroutine, KindCopy, KindStore:
		return true
	case KindCall, KindDefer, KindConvert:
		return op.score() >= 3 && !strings.HasSuffix(op.name, "String")
	}
	return false
}

// warm counts the operations that run without an error.
func warm(list []operation) (n int) {
	for _, op := range list {
		if !op.cold {
			n++
		}
	}
	return n
}

// addedLines are the lines of the new declaration that the old one does not have.
func (d *difference) addedLines() map[int]bool {
	if d.added == nil {
		d.added = map[int]bool{}
		first := d.now.file.line(d.now.decl.Pos()) - 1
		for _, l := range diffLines(d.was.textLines(), d.now.textLines()) {
			if l.Op == '+' {
				d.added[first+l.New] = true
			}
		}
	}
	return d.added
}
