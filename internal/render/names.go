package render

import (
	"github.com/hone-go/hone/internal/screen"
	"github.com/hone-go/hone/profile/report"
	"github.com/hone-go/hone/profile/symbol"
)

// naming gives functions the names that a page shows. The zero naming leaves names as they are.
type naming struct{ readable map[string]string }

// newNaming makes the names of a page's rows readable, unless it is to have exact ones. A
// readable name that two functions would share is given to neither.
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

// of returns the name to show, in one line.
func (n naming) of(name string) string {
	if short, ok := n.readable[name]; ok {
		name = short
	}
	return screen.Line(name)
}

// row is the text of a row, its function under the name to show.
func (n naming) row(r report.Row) string {
	r.Name = n.of(r.Name)
	return screen.Line(r.String())
}

// readableIfOther is what JSON has beside the exact name: "" when that is readable.
func readableIfOther(name string) string {
	if short := symbol.Readable(name); short != name {
		return short
	}
	return ""
}
