package sqltext

import (
	"slices"
	"strings"
)

// Access is what a statement does to one row of one table.
type Access struct {
	Verb  string // select, insert, update, delete
	Table string
	// Keys are the columns that a SELECT, UPDATE or DELETE compares with parameters, and Params the
	// indices of these parameters among all, for a statement whose condition only compares for
	// equality.
	Keys   []string
	Params []int
	// Sums says that a SELECT returns a number, sum or extreme of several rows.
	Sums bool
}

// AccessOf returns what a statement does; nil if it does not access one row of one table, as far as
// its condition shows, or locks it.
func AccessOf(text string) *Access {
	ts := Tokens(text)
	if n := len(ts); n > 0 && ts[n-1] == ";" {
		ts = ts[:n-1]
	}
	if len(ts) < 3 {
		return nil
	}
	a := &Access{Verb: ts[0]}
	switch {
	case a.Verb == "select":
		read := text
		if i := slices.Index(ts, "exists"); i == 1 && len(ts) > i+2 && ts[i+1] == "(" { // SELECT EXISTS(SELECT 1 FROM …)
			end := Closing(ts, i+1)
			ts = ts[i+2 : end]
			read = strings.Join(ts, " ")
		}
		if tables := Tables(read); len(tables) == 1 {
			a.Table = tables[0]
		}
		a.Sums = slices.ContainsFunc(ts, func(t string) bool { return slices.Contains([]string{"count", "sum", "max", "min", "avg", "total"}, t) })
	case a.Verb == "update":
		a.Table = named(ts[1:])
	case a.Verb == "delete" && ts[1] == "from":
		a.Table = named(ts[2:])
	case a.Verb == "insert" || a.Verb == "replace":
		if i := slices.Index(ts, "into"); i > 0 {
			a.Table = named(ts[i+1:])
		}
		a.Verb = "insert"
	}
	if a.Table == "" || a.Verb != "insert" && !a.where(ts) {
		return nil
	}
	return a
}

// named returns the name at the start of some tokens, without its schema.
func named(ts []string) string {
	for len(ts) > 2 && ts[1] == "." {
		ts = ts[2:]
	}
	if len(ts) == 0 || !Named(ts[0]) {
		return ""
	}
	return ts[0]
}

// where reports whether the condition compares columns for equality, and notes those that are
// compared with parameters.
func (a *Access) where(ts []string) bool {
	i := slices.Index(ts, "where")
	if i < 0 || slices.Contains(ts[i:], "or") || slices.Contains(ts[i:], "group") {
		return false
	}
	before := 0
	for _, t := range ts[:i] {
		if t == "?" {
			before++
		}
	}
	cond := ts[i+1:]
	for j, t := range cond {
		if t == "order" || t == "limit" || t == "returning" {
			cond = cond[:j]
			break
		}
	}
	for _, test := range Split(cond, "and") {
		for len(test) > 2 && test[1] == "." {
			test = test[2:]
		}
		if len(test) > 2 && test[len(test)-2] == "::" { // a cast
			test = test[:len(test)-2]
		}
		switch {
		case len(test) < 3 || !Named(test[0]):
			return false
		case test[1] == "is":
		case test[1] == "=" && test[2] == "?" && len(test) == 3:
			a.Keys, a.Params = append(a.Keys, test[0]), append(a.Params, before)
			before++
		case test[1] == "=" && len(test) == 3: // a constant
		default:
			return false
		}
	}
	return len(a.Keys) > 0
}
