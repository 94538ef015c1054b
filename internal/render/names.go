package render

import (
	"github.com/hone-go/hone/internal/screen"
	"github.com/hone-go/hone/profile/report"
	"github.com/hone-go/hone/profile/symbol"
)

// naming chooses the names of functions on a page. The zero naming leaves names unchanged.
type naming struct{ readable map[string]string }

// newNaming makes the names of a page's rows readable, unless exact is set. If two functions would
// get the same readable name, both keep their exact names.
func newNaming[T any](exact bool, rows []T, name func(*T) string) naming {
	if exact {
		return naming{}
	}
	n := naming{map[string]string{}}
	owner := map[string]string{}
	for i := range rows {
		name := name(&rows[i])
		if _, known := n.readable[name]; known {
			continue
		}
		short := symbol.Readable(name)
		if first, taken := owner[short]; taken {
			n.readable[first], short = first, name
		} else {
			owner[short] = name
		}
		n.readable[name] = short
	}
	return n
}

// of returns the name to show, without line breaks.
func (n naming) of(name string) string {
	if short, ok := n.readable[name]; ok {
		name = short
	}
	return screen.Line(name)
}

// row returns the text of a row, with the name of its function to show.
func (n naming) row(r report.Row) string {
	r.Name = n.of(r.Name)
	return screen.Line(r.String())
}

// readableIfOther returns the readable name for JSON, or "" if it equals the exact name.
func readableIfOther(name string) string {
	if short := symbol.Readable(name); short != name {
		return short
	}
	return ""
}
