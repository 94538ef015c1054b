package sqlfullscan

import (
	"slices"

	"github.com/hone-go/hone/internal/diagnose/sqltext"
)

// table is what the program's own SQL says about a table.
type table struct {
	columns map[string]bool
	leading map[string]bool // columns that an index or a key starts with
	unknown bool            // it has an index on an expression
}

// schema are the tables that the program creates, by their names without the schema's.
type schema map[string]*table

// read adds what a text of SQL creates. It passes over what it does not know.
func (s schema) read(sql string) {
	ts := sqltext.Tokens(sql)
	for i := 0; i < len(ts); i++ {
		switch {
		case ts[i] == "create":
			s.create(ts[i+1:])
		case ts[i] == "alter" && i+1 < len(ts) && ts[i+1] == "table":
			s.alter(ts[i+2:])
		}
	}
}

// create reads what follows the word in a statement.
func (s schema) create(ts []string) {
	for len(ts) > 0 && slices.Contains([]string{"temp", "temporary", "unlogged", "unique"}, ts[0]) {
		ts = ts[1:]
	}
	if len(ts) == 0 {
		return
	}
	kind := ts[0]
	ts = ts[1:]
	switch kind {
	case "table":
		name, rest := nameOf(ts)
		if len(rest) == 0 || rest[0] != "(" {
			return
		}
		for _, def := range sqltext.Split(rest[1:sqltext.Closing(rest, 0)], ",") {
			s.define(s.table(name), def)
		}
	case "index":
		on := slices.Index(ts, "on")
		if on < 0 || on > 8 {
			return
		}
		name, rest := nameOf(ts[on+1:])
		if len(rest) > 1 && rest[0] == "using" {
			rest = rest[2:]
		}
		s.table(name).index(rest)
	}
}

// alter reads what follows "alter table": added columns and keys.
func (s schema) alter(ts []string) {
	name, rest := nameOf(ts)
	end := slices.Index(rest, ";")
	if end < 0 {
		end = len(rest)
	}
	for _, change := range sqltext.Split(rest[:end], ",") {
		if len(change) > 1 && change[0] == "add" {
			change = change[1:]
			if change[0] == "column" {
				change = change[1:]
			}
			s.define(s.table(name), change)
		}
	}
}

// nameOf returns the name of a table, without that of its schema, and what follows.
func nameOf(ts []string) (string, []string) {
	for len(ts) > 0 && slices.Contains([]string{"if", "not", "exists", "only"}, ts[0]) {
		ts = ts[1:]
	}
	if len(ts) > 2 && ts[1] == "." {
		ts = ts[2:]
	}
	if len(ts) == 0 {
		return "", nil
	}
	return ts[0], ts[1:]
}

func (s schema) table(name string) *table {
	t := s[name]
	if t == nil {
		t = &table{columns: map[string]bool{}, leading: map[string]bool{}}
		s[name] = t
	}
	return t
}

// define reads a column or a constraint.
func (s schema) define(t *table, def []string) {
	if len(def) == 0 || !sqltext.Named(def[0]) {
		return
	}
	switch def[0] {
	case "constraint", "primary", "unique", "key", "index", "foreign", "check", "exclude":
		if slices.Contains(def, "foreign") || slices.Contains(def, "check") || slices.Contains(def, "exclude") {
			return
		}
		if open := slices.Index(def, "("); open >= 0 {
			t.index(def[open:])
		}
		return
	}
	t.columns[def[0]] = true
	if slices.Contains(def, "unique") || slices.Contains(def, "primary") {
		t.leading[def[0]] = true
	}
}

// index reads the columns of an index or a key.
func (t *table) index(ts []string) {
	if len(ts) < 3 || ts[0] != "(" {
		t.unknown = true
		return
	}
	if !sqltext.Named(ts[1]) || ts[2] == "(" {
		t.unknown = true
		return
	}
	t.leading[ts[1]] = true
}
