package locks

import (
	"fmt"
	"path"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Found is the critical section that an Unlock on a site's line ends.
type Found struct {
	*Section
	Place *gocode.Place // in the function of the section
	File  string        // of the section, as profiles name it

	in   string // where the section is, if not in the site's function: " of box.go in put"
	held string // where it is locked and unlocked, if in two functions
}

// Of returns the critical section that a site ends: of its function, of callers that call it with
// the mutex held, or of callers of a method that wraps Unlock. It is nil if the section is not
// known. place is that of the site; nil without source.
func Of(p *rule.Pass, s *site.Site) (place *gocode.Place, found *Found) {
	place, sections := Ending(p, s)
	if place == nil {
		return nil, nil
	}
	if len(sections) > 0 {
		return place, &Found{Section: sections[0], Place: place, File: s.File}
	}
	if f := handed(p, s); f != nil {
		return place, f
	}
	above, sec, at := Above(p, s)
	if sec == nil {
		return place, nil
	}
	in := " of " + path.Base(strings.ReplaceAll(at.File, `\`, "/")) + " in " + syntax.FuncName(above)
	return place, &Found{Section: sec, Place: above, File: at.File, in: in}
}

// Held says from where to where the mutex is held, in sentences with a space before them.
func (f *Found) Held() string {
	if f.held != "" {
		return f.held
	}
	held := ""
	if f.Deferred {
		held = ", to the end of the function by defer"
	}
	return fmt.Sprintf(" %s is held from line %d to %d%s%s.", syntax.Text(f.Mutex), f.From, f.To, f.in, held)
}
