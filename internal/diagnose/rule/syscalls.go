package rule

import (
	"strings"

	"github.com/hone-go/hone/internal/site"
)

// Reaches returns a question about rows: does the blamed line come to one of the named functions
// through nothing but the packages named by prefixes ("fmt.", "io.")? A buffer in between, which has a
// package of its own, then answers no.
func Reaches(through []string, functions ...string) func(*site.Row) bool {
	return func(r *site.Row) bool {
		for i := r.Owner - 1; i >= 0; i-- {
			name := r.Stack[i].Function
			if Named(name, functions...) {
				return true
			}
			ok := false
			for _, prefix := range through {
				ok = ok || strings.HasPrefix(name, prefix)
			}
			if !ok {
				return false
			}
		}
		return false
	}
}
