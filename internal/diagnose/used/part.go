package used

import (
	"go/ast"
	"slices"

	"github.com/hone-go/hone/internal/gocode"
)

// Part is what is used of a value. The zero Part is nothing.
type Part struct {
	Whole  bool
	Tested bool     // compared with nil
	Length bool     // the length of a list or map, or whether it is empty
	Fields []string // of a struct, or of what it points at, sorted
	Keys   []Access // that look up elements of a map
	At     Access   // the first use, for sentences
}

// Access is a use of a value.
type Access struct {
	*gocode.Place
	Node ast.Node
}

// None reports whether nothing of the value is used.
func (u Part) None() bool {
	return !u.Whole && !u.Tested && !u.Length && len(u.Fields) == 0 && len(u.Keys) == 0
}

// Elements reports whether the elements of a list or map are used, or parts that are not known.
func (u Part) Elements() bool { return u.Whole || len(u.Keys) > 0 }

// key describes what is used, to compare and remember it.
func (u Part) key() string {
	text := ""
	for _, is := range []bool{u.Whole, u.Tested, u.Length, len(u.Keys) > 0} {
		if is {
			text += "x"
		} else {
			text += "-"
		}
	}
	for _, f := range u.Fields {
		text += " " + f
	}
	return text + ";"
}

// add adds another use of the same value.
func (u *Part) add(o Part) {
	u.Whole = u.Whole || o.Whole
	u.Tested = u.Tested || o.Tested
	u.Length = u.Length || o.Length
	u.Keys = append(u.Keys, o.Keys...)
	for _, f := range o.Fields {
		if !slices.Contains(u.Fields, f) {
			u.Fields = append(u.Fields, f)
		}
	}
	slices.Sort(u.Fields)
	if u.At.Node == nil {
		u.At = o.At
	}
}

func whole(p *gocode.Place, n ast.Node) Part { return Part{Whole: true, At: Access{p, n}} }
